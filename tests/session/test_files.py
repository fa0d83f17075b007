"""The files that a cell read: only the user's, with the content that it saw."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from ipytorchseed.ledger.store import Ledger
from ipytorchseed.session import hearing
from tests.session.conftest import Notebook

READERS = {
    "text": ("p.write_text('1,2\\n3,4')", "p.write_text('1,2\\n3,5')", "open(p).read()"),
    "bytes": ("p.write_bytes(b'\\0\\1')", "p.write_bytes(b'\\0\\2')", "p.read_bytes()"),
    "a descriptor": ("p.write_text('a')", "p.write_text('b')", "os.close(os.open(p, os.O_RDONLY))"),
    "both ways": ("p.write_text('a')", "p.write_text('b')", "open(p, 'r+').read()"),
    "numpy": ("np.save(open(p, 'wb'), [1.0])", "np.save(open(p, 'wb'), [2.0])", "np.load(p)"),
    "a memory map": ("np.save(open(p, 'wb'), [1.0])", "np.save(open(p, 'wb'), [2.0])", "np.load(p, mmap_mode='r')[0]"),
    "several arrays": ("np.savez(p, a=[1])", "np.savez(p, a=[2])", "np.load(p)['a']"),
    "numbers": ("p.write_text('1 2')", "p.write_text('1 3')", "np.loadtxt(p)"),
    "raw numbers": ("p.write_bytes(b'12345678')", "p.write_bytes(b'1234567x')", "np.fromfile(p)"),
    "torch": ("torch.save([1], p)", "torch.save([2], p)", "torch.load(p)"),
    "pandas": ("p.write_text('a\\n1')", "p.write_text('a\\n2')", "import pandas; pandas.read_csv(p)"),
    "pickle": ("p.write_bytes(b'N.')", "p.write_bytes(b'K\\x01.')", "pickle.load(open(p, 'rb'))"),
    "compressed": (
        "gzip.open(p, 'w').write(b'a')", "gzip.open(p, 'w').write(b'b')", "gzip.open(p).read()",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, notebook, monkeypatch):
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    notebook.run(
        "import gc, gzip, os, pickle, torch\nimport numpy as np\nfrom pathlib import Path\n"
        "p = Path('data.npz').absolute()"
    )
    return tmp_path


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(("write", "change", "read"), READERS.values(), ids=READERS)
def test_a_file_read_in_any_way_is_named_by_its_content(notebook, folder, write, change, read):
    """Equal content has an equal digest. A run that writes the file did not read it."""
    assert notebook.run(f"{write}\ngc.collect();").files == ()
    first, same = notebook.run(read), notebook.run(read)
    notebook.run(f"{change}\ngc.collect();")
    other = notebook.run(read)
    path = str(folder / "data.npz")
    assert [[each.path for each in run.files] for run in (first, same, other)] == [[path]] * 3
    assert first.files == same.files
    assert first.files[0].digest != other.files[0].digest
    assert first.files[0].exact
    assert first.files[0].size == first.files[0].size > 0


def test_a_relative_name_means_the_folder_of_that_moment(notebook, folder):
    """This holds even if the cell changes the folder afterwards."""
    (folder / "sub").mkdir()
    (folder / "sub/a.txt").write_text("x")
    run = notebook.run("os.chdir('sub')\nopen('a.txt').read()\nos.chdir('..')")
    assert [each.path for each in run.files] == [str(folder / "sub/a.txt")]


def test_a_file_that_the_run_deletes_is_named_by_what_it_held(notebook, folder):
    """It is missing when the cell ends, or was renamed, replaced or overwritten."""
    digests = set()
    for end in (
        "p.unlink()",
        "p.rename('elsewhere')",
        "Path('new').write_text('b')\nos.replace('new', p)",
        "p.write_text('b')",
        "open(p, 'a').write('b')",
        "open(p, 'r+').write('b')",
        "os.truncate(p, 0)",
        "",
    ):
        notebook.run("p.write_text('content')")
        run = notebook.run(f"open(p).read()\n{end}")
        digests |= {(each.digest, each.size) for each in run.files}
    assert len(digests) == 1


CONNECT = "import sqlite3\nwith sqlite3.connect('a.db') as c: c.execute({what!r})"

# Writes in native code, which are not reported, and whether opening the file is.
NATIVE = {
    "sqlite": (CONNECT, True),
    "safetensors": (
        "import torch\nfrom safetensors.torch import save_file\n"
        "save_file({{'t': torch.ones({what!r}.count('a'))}}, 'a.db')",
        False,
    ),
}


@pytest.mark.parametrize(("cell", "opens"), NATIVE.values(), ids=NATIVE)
def test_a_file_that_native_code_writes_is_noted_by_its_name(notebook, folder, cell, opens):
    """It differs after the cell. If it does not, the cell may have read it."""
    make, change = "create table a (b)", "insert into a values (1)"
    path = str(folder / "a.db")
    made = notebook.run(cell.format(what=make))
    assert [each.size < 0 for each in made.files] == [True] * opens
    changed = notebook.run(cell.format(what=change))
    assert [each.size > 0 for each in changed.files] == [True] * opens
    assert made.outside.wrote == changed.outside.wrote == (path,)
    read = notebook.run("import sqlite3\nn = 'a.db'")
    assert ([each.path for each in read.files], read.outside.wrote) == ([path], ())


HIDDEN = "import sqlite3\nc = sqlite3.connect('a' + '.db')\nc.execute('create table a (b)')"


def test_a_database_that_stays_open_is_noted_without_its_name(notebook, folder):
    """Libraries keep connections, and make their paths from addresses."""
    path = str(folder / "a.db")
    assert notebook.run(HIDDEN).outside.wrote == (path,)
    assert not notebook.run("n = c.execute('select * from a').fetchall()").outside.wrote
    size = (folder / "a.db").stat().st_size
    wrote = notebook.run("with c: c.execute('insert into a values (1)')")
    assert wrote.outside.wrote == (path,)
    assert [(each.path, each.size) for each in wrote.files] == [(path, size)]


def test_a_database_in_memory_is_no_file(notebook):
    """Neither is one whose address says so."""
    run = notebook.run("import sqlite3\nfor n in ':memory:', '': sqlite3.connect(n).close()")
    assert (run.files, run.outside.wrote) == ((), ())


def test_a_file_that_vanished_otherwise_is_said_to_be_gone(notebook, folder):
    """Its name is known, but not its content."""
    (folder / "data.npz").write_text("x")
    notebook.names["away"] = (folder / "data.npz").unlink
    run = notebook.run("open(p).read()\nimport subprocess\nsubprocess.run(['rm', str(p)])")
    assert [(each.path, each.size) for each in run.files] == [(str(folder / "data.npz"), -1)]


def test_what_does_not_exist_is_the_users_error(notebook, folder):
    """The error is the usual one, and the record says that the file was missing."""
    run = notebook.run("open('none.txt')")
    assert isinstance(notebook.error, FileNotFoundError)
    assert run.files[0].size == -1


def test_a_large_file_is_sampled_where_the_budget_ends(put_back, tmp_path):
    """Both ends and the size count.

    The record says that it is a sample, and the next look gives the same.
    """
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 28)
    notebook = Notebook(budget=0.0)
    notebook.names["p"] = path
    first, second = notebook.run("open(p).close()"), notebook.run("open(p).close()")
    assert [(each.exact, each.size) for each in first.files] == [(False, 1 << 28)]
    assert first.files == second.files
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    assert notebook.run("open(p).close()").files[0].digest != first.files[0].digest


def test_a_large_file_ends_with_the_budget_though_it_was_begun(put_back, tmp_path):
    """The clock is checked within a file, too."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 35)  # 32 GB, which need no disk space
    notebook = Notebook(budget=0.02)
    notebook.names["p"] = path
    assert notebook.run("open(p).close()").files[0].exact is False


def test_small_files_are_read_in_full_whatever_the_budget(put_back, tmp_path):
    """Reading them takes no longer than a sample."""
    (tmp_path / "small").write_text("x")
    notebook = Notebook(budget=0.0)
    notebook.names["p"] = tmp_path / "small"
    assert notebook.run("open(p).close()").files[0].exact


def test_files_that_are_not_the_users_are_not_listed(put_back, tmp_path, monkeypatch):
    """Those of Python, packages, tools, the system and ours; devices; folders."""
    notebook = Notebook(Ledger.open(tmp_path / "here" / "ledger.sqlite"))
    (tmp_path / "helper_of_files.py").write_text("x = 1")
    for name in ("data.txt", ".pdbhistory", ".pdbrc"):
        (tmp_path / "here" / name).write_text("x")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path)
    run = notebook.run(
        "import os, sys, json.tool, torch, helper_of_files, xml.dom.minidom\n"
        "for p in (os.__file__, torch.__file__, helper_of_files.__file__, '/dev/null',"
        " '/proc/self/stat', '/etc/hostname', 'ledger.sqlite', 'ledger.sqlite-wal'):\n"
        "    open(p, 'rb').close()\n"
        "os.close(os.open('.', os.O_RDONLY))\n"
        "for p in ('.pdbhistory', '.pdbrc'):\n    open(p).close()\n"
        "open('data.txt').close()\nopen(0, closefd=False)"
    )
    assert notebook.error is None
    assert [Path(each.path).name for each in run.files] == ["data.txt"]
    notebook.session.close()


def test_a_fifo_is_not_waited_for(notebook, folder):
    """Opening it again would block."""
    os.mkfifo(folder / "fifo")
    run = notebook.run("os.close(os.open('fifo', os.O_RDONLY | os.O_NONBLOCK))")
    assert run.files == ()


ODD = ["ü", "a b", "\udcff", "🎲", "new\nline", "<script>"]


def test_any_name_of_a_file_is_kept(notebook, folder):
    """It may be undecodable, or given as bytes."""
    for name in ODD:
        (folder / name).write_text(name, errors="surrogateescape")
    notebook.names["odd"] = ODD
    run = notebook.run("for name in odd:\n    open(os.fsencode(name)).close()")
    assert [Path(each.path).name for each in run.files] == ODD
    assert notebook.session.ledger.run(run.id).files == run.files


def test_a_folder_that_is_gone_is_no_error_of_ours(notebook, folder):
    """Relative names are meaningless there, and the user's call behaves as usual."""
    (folder / "gone").mkdir()
    (folder / "kept.txt").write_text("x")
    run = notebook.run(
        "fd = os.open('.', os.O_RDONLY)\nos.chdir('gone')\nos.rmdir('../gone')\n"
        "os.close(os.open('kept.txt', os.O_RDONLY, dir_fd=fd))\nos.fchdir(fd)\nos.close(fd)"
    )
    assert notebook.error is None
    assert run.status == "ok"


def test_only_so_many_files_are_listed(notebook, folder):
    """The record has the first thousand."""
    notebook.run("for n in range(1100):\n    Path(str(n)).touch()")
    run = notebook.run("for n in range(1100):\n    open(str(n)).close()")
    assert len(run.files) == 1000


def test_threads_that_open_files_meanwhile(notebook, folder):
    """Each file is listed once."""
    for number in range(50):
        (folder / str(number)).write_text("x")
    notebook.names["threading"] = threading
    run = notebook.run(
        "def work():\n    for n in range(50):\n        open(str(n)).close()\n"
        "ts = [threading.Thread(target=work) for _ in range(4)]\n"
        "[t.start() for t in ts]\n[t.join() for t in ts];"
    )
    assert sorted(int(Path(each.path).name) for each in run.files) == [*range(50)]


def test_between_cells_nothing_is_noted(notebook, folder):
    """Nothing is recorded after the session is closed, either."""
    (folder / "a").write_text("x")
    (folder / "a").read_text()
    assert notebook.run("1").files == ()
    notebook.session.begin_cell("c", "1", 9, notebook.names)
    notebook.session.close()
    assert hearing._listener is None


def test_what_lies_in_sys_modules_is_not_asked(notebook, folder, monkeypatch):
    """Libraries put objects there that have any attribute, or raise."""

    class Lazy:
        def __getattr__(self, name):
            raise AssertionError(name)

    monkeypatch.setitem(sys.modules, "lazy_of_a_test", Lazy())
    (folder / "a").write_text("x")
    assert len(notebook.run("open('a').read()").files) == 1


def test_where_tracebacks_look_for_a_cells_code_is_no_file_of_the_users(notebook, folder):
    """A kernel gives each cell's code a file name, but there is no such file."""
    name = "'ipykernel_12/34.py'"
    assert notebook.run(f"Path({name}).exists() or open('made', 'w').write('');").files == ()
    (folder / "ipykernel_12").mkdir()
    (folder / "ipykernel_12" / "34.py").write_text("x")
    assert notebook.run(f"open({name}).read()").files == ()
    assert notebook.run("open('made').read()").files != ()


MADE = {
    "text": "p.write_text(str(x)); p.read_text()",
    "a descriptor": "os.close(os.open(p, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)); p.read_text()",
    "a temporary file": "f = tempfile.NamedTemporaryFile('w'); f.write('x'); f.flush(); "
    "open(f.name).read(); f.close()",
}


@pytest.mark.parametrize("cell", MADE.values(), ids=MADE)
def test_a_file_that_the_cell_makes_is_no_input(notebook, folder, cell):
    """The cell wrote its content. A later cell reads it."""
    notebook.run("import tempfile, time\nx = 1")
    assert notebook.run(f"{cell};").files == ()
    assert notebook.error is None
    assert [each.path for each in notebook.run("p.exists() and open(p).close();").files] == [
        str(p) for p in [folder / "data.npz"] if p.exists()
    ]


def test_a_file_that_is_added_to_is_an_input(notebook, folder):
    """Its earlier content counts."""
    (folder / "data.npz").write_text("x")
    run = notebook.run("open(p, 'a').write('y'); open(p).read()")
    assert [each.path for each in run.files] == [str(folder / "data.npz")]


def test_what_a_package_opens_as_it_is_imported_is_its_own(notebook, folder, monkeypatch):
    """Files in the working folder, or opened by the user's own modules, do count."""
    outside = folder / "outside"
    packages = folder / "site-packages"
    for each in (outside, packages, folder / "work"):
        each.mkdir()
    for path in (outside / "a", folder / "work" / "b"):
        path.write_text("x")
    text = f"open({str(outside / 'a')!r}).close()\nopen('b').close()"
    (packages / "opening_package.py").write_text(text)
    (outside / "opening_module.py").write_text(text)
    monkeypatch.syspath_prepend(packages)
    monkeypatch.syspath_prepend(outside)
    monkeypatch.chdir(folder / "work")
    run = notebook.run("import opening_package")
    assert [Path(each.path).name for each in run.files] == ["b"]
    run = notebook.run("import opening_module")
    assert [Path(each.path).name for each in run.files] == ["a", "b"]


LISTINGS = (
    "os.listdir()", "list(Path('.').glob('*.txt'))", "__import__('glob').glob('*.txt')",
    "list(os.scandir('.'))", "list(os.walk('.'))", "list(Path('.').iterdir())",
)  # fmt: skip


@pytest.mark.parametrize("cell", LISTINGS)
def test_a_folder_that_the_cell_lists_is_named_by_what_lies_there(notebook, folder, cell):
    """Hidden entries do not count."""
    (folder / "a.txt").touch()
    first = notebook.run(cell)
    (folder / ".hidden").touch()
    same = notebook.run(cell)
    (folder / "b.txt").touch()
    other = notebook.run(cell)
    assert {each.path for each in first.files} == {f"{folder}/"}
    assert first.files == same.files
    assert (first.files[0].size, other.files[0].size) == (1, 2)


def test_what_imports_and_clean_up_list_is_no_input(notebook, folder):
    """They do not pass the names on."""
    (folder / "local_module.py").write_text("x = 1")
    cell = (
        "import tempfile\nimport local_module\nwith tempfile.TemporaryDirectory(dir='.'):\n    pass"
    )
    run = notebook.run(cell)
    assert [each.path for each in run.files if each.is_folder] == []


def test_a_folder_that_is_tried_for_temporary_files_is_not_written_to(
    notebook, tmp_path, monkeypatch
):
    """The kernel tries it before the first cell. What remains there counts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert notebook.run("import tempfile\nwhere = tempfile.gettempdir()").outside.wrote == ()
    assert tempfile.tempdir == str(tmp_path)
    (made,) = notebook.run("_, name = tempfile.mkstemp()").outside.wrote
    assert Path(made).parent == tmp_path


def test_what_is_made_and_removed_again_is_no_output(notebook, folder):
    """Nothing remains of it. Removing what existed before is recorded."""
    (folder / "there.txt").write_text("x")
    run = notebook.run("p.write_text('a'); p.unlink(); Path('there.txt').unlink()")
    assert run.outside.wrote == (str(folder / "there.txt"),)


def test_a_folder_that_is_removed_is_noted(notebook, folder):
    """Its own name is recorded, as its content is removed, too.

    A folder that the cell itself created does not count.
    """
    (folder / "there" / "deep").mkdir(parents=True)
    (folder / "there" / "deep" / "x.txt").write_text("x")
    run = notebook.run(
        "import shutil\nos.makedirs('new/deep')\nshutil.rmtree('new')\nshutil.rmtree('there')"
    )
    assert str(folder / "there") in run.outside.wrote
    assert not any("new" in path for path in run.outside.wrote)


def test_a_folder_that_the_cell_makes_is_no_input(notebook, folder):
    """Nor is its content, even if another program wrote it.

    A folder that existed before is an input, even after ``mkdir`` with ``exist_ok``.
    """
    notebook.run("import tempfile, subprocess, sys")
    run = notebook.run(
        "with tempfile.TemporaryDirectory() as made:\n"
        "    subprocess.run(['touch', made + '/x'])\n    os.listdir(made)\n"
        "    open(made + '/x').read()\n"
        "os.makedirs('new/deep', exist_ok=True)\nos.listdir('new/deep')"
    )
    assert (run.files, run.outside.wrote) == ((), ())
    run = notebook.run("os.makedirs('new/deep', exist_ok=True)\nos.listdir('new/deep')")
    assert [each.path for each in run.files] == [f"{folder}/new/deep/"]


@pytest.mark.parametrize("at", ["torchinductor_me/ab", ".triton/cache", "kept"])
def test_what_compilers_keep_is_not_the_users(notebook, folder, monkeypatch, at):
    """It is neither read nor written: a compiled model gives the same without it."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder / "kept"))
    (folder / at).mkdir(parents=True)
    (folder / at / "old.py").write_text("1")
    cell = f"c = Path({at!r}); (c / 'new.py').write_text('x'); (c / 'old.py').read_text(); {{*c.iterdir()}}"
    run = notebook.run(cell)
    assert notebook.error is None
    assert (run.files, run.outside.wrote) == ((), ())


def test_a_cell_that_runs_no_code_reads_no_file(notebook, folder):
    """Nothing of the previous cell's files or imports is in its record."""
    (folder / "own_module.py").write_text("", encoding="utf-8")
    notebook.run("import sys; sys.path.insert(0, '')")
    before = notebook.run(
        "p.write_text('1'); p.read_text(); open('other', 'w').close(); import own_module"
    )
    assert before.outside.wrote
    assert before.loaded
    after = notebook.run("name = 'other'")
    assert (after.files, after.outside.wrote, dict(after.loaded)) == ((), (), {})
    assert [each.path for each in notebook.run("open(name).read()").files] == [
        str(folder / "other")
    ]
