"""The functions that open files are replaced everywhere, unnoticed, and restored."""

from __future__ import annotations

import builtins
import bz2
import copy
import io
import os
import subprocess
import sys
import tarfile
import traceback
import uuid
from pathlib import Path
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
import torch
from scipy.stats import qmc

from ipytorchseed.session import hearing

# Where the functions are bound, in part long before we replace them.
BOUND = {
    "builtins.open": lambda: builtins.open,
    "io.open": lambda: io.open,
    "os.open": lambda: os.open,
    "os.replace": lambda: os.replace,
    "subprocess": lambda: vars(sys.modules["_posixsubprocess"])["fork_exec"],
    "bz2": lambda: bz2._builtin_open,
    "tarfile": lambda: tarfile.bltn_open,
    "torch": lambda: torch.serialization._open_zipfile_writer,
    "numpy": lambda: np.lib._datasource._file_openers._file_openers[None],
}


class Told:
    """Records what it is called with."""

    def __init__(self):
        self.read: list[str] = []
        self.changed: list[str] = []
        self.ran: list[tuple[str, str]] = []
        self.asked: list[str] = []

    def asks(self, function):
        """Record what makes numpy seed a generator itself."""
        self.asked.append(function)

    def runs(self, scripts, folder=""):
        """Record the code files of a program."""
        self.ran += [(script, folder) for script in scripts]

    def opens(self, path, mode):
        """Record the path of a file that is read or written."""
        (self.read if "r" in mode else self.changed).append(path)

    def changes(self, path):
        """Record the path of a file that is changed."""
        self.changed.append(path)


@pytest.fixture
def told():
    """Yield a listener that is active during a test."""
    listener = Told()
    hearing.start(listener)
    yield listener
    hearing.stop(listener)


@pytest.fixture
def file(tmp_path):
    """Return a file with one line."""
    (tmp_path / "a").write_text("1 2")
    return tmp_path / "a"


READERS = {
    "bz2": lambda p: bz2.open(p).close(),
    "tarfile": tarfile.is_tarfile,
    "numpy": np.loadtxt,
    "numpy in C": np.fromfile,
    "by keyword": lambda p: open(file=p).close(),  # noqa: PTH123 -- what is tested
    "bytes": lambda p: open(os.fsencode(p)).close(),  # noqa: PTH123 -- as above
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_name_bound_long_ago_is_heard(file, told, read):
    """This includes names in the standard library and numpy."""
    read(file)
    assert str(file) in told.read


PROGRAMS = {
    "run": lambda p: subprocess.run([sys.executable, "a.py", "b.txt"], cwd=p, check=True),
    "shell": lambda p: subprocess.run("true && true a.py", shell=True, cwd=p, check=True),  # noqa: S602, S607
    "spawn": lambda p: os.waitpid(os.posix_spawn("/bin/true", ["true", f"{p}/a.py"], {}), 0),
    "system": lambda p: os.system(f"true {p}/a.py"),  # noqa: S605 -- what is tested
    "module": lambda p: subprocess.run([sys.executable, "-m", "a"], cwd=p, check=True),
}


@pytest.mark.parametrize("start", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_is_heard(tmp_path, told, start):
    """The code files among its arguments are reported, and its folder."""
    (tmp_path / "a.py").write_text("")
    start(tmp_path)
    assert [str(Path(folder, script)) for script, folder in told.ran] == [str(tmp_path / "a.py")]


@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
@pytest.mark.parametrize("name", ["open", "mine"])
def test_a_name_that_a_module_binds_is_heard_and_put_back(file, monkeypatch, name, late):
    """The module is imported before the functions are replaced, or while they are."""
    listener = Told()
    module = ModuleType(f"of_a_test_{name}_{late}")  # a new name, as found ones are remembered
    if late:
        hearing.start(listener)
    exec(f"from io import open as {name}", vars(module))  # noqa: S102
    monkeypatch.setitem(sys.modules, module.__name__, module)
    hearing.start(listener)
    vars(module)[name](file).close()
    hearing.stop(listener)
    hearing.search()
    assert vars(module)[name] is open
    assert listener.read == [str(file)]


def test_what_is_bound_later_is_put_back_at_the_end(file, monkeypatch):
    """Until then, the function under this name opens files unreported."""
    listener, module = Told(), ModuleType("of_a_test")
    monkeypatch.setitem(sys.modules, "of_a_test", module)
    hearing.start(listener)
    exec("from io import open as mine", vars(module))  # noqa: S102
    hearing.stop(listener)
    module.mine(file).close()
    assert listener.read == []
    hearing.restore()
    assert module.mine is open


@pytest.mark.parametrize("idle", [False, True])
def test_what_a_cell_imported_is_heard_in_the_next(file, monkeypatch, idle):
    """It does not matter whether the kernel was idle in between."""
    listener = Told()
    hearing.start(listener)
    module = ModuleType(f"imported_before_{idle}")  # a new name, as found ones are remembered
    exec("from io import open as mine", vars(module))  # noqa: S102
    monkeypatch.setitem(sys.modules, module.__name__, module)
    hearing.stop(listener)
    module.mine(file).close()
    assert listener.read == []
    if idle:
        hearing.search()
        assert module.mine is open
    hearing.start(listener)
    module.mine(file).close()
    hearing.stop(listener)
    assert listener.read == [str(file)]
    assert module.mine is open


@pytest.mark.parametrize("gone", [False, True])
def test_what_was_imported_between_cells_is_heard(file, monkeypatch, gone):
    """Another thread may import it, without the kernel being idle.

    Another module may be gone.
    """
    listener = Told()
    monkeypatch.setitem(sys.modules, "gone_soon", ModuleType("gone_soon"))
    hearing.start(listener)
    hearing.stop(listener)
    if gone:
        del sys.modules["gone_soon"]
    name = f"of_a_test_{gone}"  # a new name, as found ones are remembered
    module = ModuleType(name)
    exec("from io import open", vars(module))  # noqa: S102
    monkeypatch.setitem(sys.modules, name, module)
    hearing.start(listener)
    module.open(file).close()
    hearing.stop(listener)
    assert listener.read == [str(file)]
    assert module.open is open


def test_searched_modules_are_not_searched_again(monkeypatch):
    """A cell does not wait for a thousand modules."""
    hearing.search()
    looked = []
    monkeypatch.setattr(hearing, "_note", lambda module, _=(): looked.append(module))
    listener = object()
    hearing.start(listener)
    hearing.stop(listener)
    assert {*looked} == {"__main__"}


def test_a_library_that_seeds_a_generator_by_itself_is_heard(told):
    """The name is what the user calls. Copies and other random bytes do not count."""
    qmc.Halton(d=1)
    qmc.Halton(d=1, seed=3)
    copy.deepcopy(np.random.default_rng(3))
    os.urandom(16)
    uuid.uuid4()
    assert told.asked == ["scipy.stats.qmc.Halton"]


class Drawing:
    """Draws from its own generator, as estimators do."""

    seed = None

    def draw(self, seed=None):
        """Create the generator."""
        np.random.default_rng(seed)
        np.random.RandomState(self.seed)


def test_a_seed_that_is_none_is_heard(told):
    """It may come from an argument, an attribute or the class."""
    drawing = Drawing()
    drawing.draw(3)
    assert told.asked == ["numpy.random.RandomState"]
    drawing.seed = 4
    drawing.draw(3)
    assert told.asked == ["numpy.random.RandomState"]
    drawing.draw()
    assert told.asked[1:] == ["numpy.random.default_rng"]


def test_who_seeds_a_generator_by_itself_may_stay_unknown(told):
    """The line does not name the function, or the argument is unknown."""
    make, seeds = np.random.default_rng, [None, 5]
    make()
    np.random.RandomState(seeds[1])
    np.random.RandomState(5)
    assert told.asked == ["", ""]


def test_what_torch_saves_is_heard(file, told):
    """C code opens the file. Writing to a buffer does not count."""
    torch.save([1], io.BytesIO())
    assert told.changed == []
    torch.save([1], file)
    assert told.changed == [str(file)]


def test_everything_is_put_back():
    """The same objects are in the same places."""
    before = {name: find() for name, find in BOUND.items()}
    listener = Told()
    hearing.start(listener)
    assert all(find() is not before[name] for name, find in BOUND.items())
    hearing.stop(listener)
    assert {name: find() for name, find in BOUND.items()} == before


def test_what_others_put_there_meanwhile_is_kept(file, monkeypatch):
    """A wrapper that calls ours continues to work, and is reported next time."""
    listener = Told()
    hearing.start(listener)
    ours = builtins.open

    def theirs(*args):
        return ours(*args)

    monkeypatch.setattr(builtins, "open", theirs)
    hearing.stop(listener)
    assert builtins.open is theirs
    assert open(file).read() == "1 2"  # noqa: PTH123, SIM115 -- what is tested
    assert listener.read == []
    hearing.start(listener)
    assert builtins.open is theirs
    open(file).close()  # noqa: PTH123 -- as above
    hearing.stop(listener)
    assert listener.read == [str(file)]
    monkeypatch.undo()  # restores ours, like a mock from an earlier cell
    assert open(file).read() == "1 2"  # noqa: PTH123, SIM115 -- as above
    hearing.start(listener)
    hearing.stop(listener)
    assert builtins.open is io.open


def test_a_mock_of_open_is_a_mock(file, told):
    """Tests in the user's cells work."""
    with mock.patch("builtins.open", mock.mock_open(read_data="x")) as made:
        assert open(file).read() == "x"  # noqa: PTH123, SIM115 -- what is tested
    made.assert_called_once_with(file)
    assert told.read == []


@pytest.mark.parametrize(
    "call",
    [Path.open, Path.read_text, Path.unlink, lambda path: os.open(path, 0)],
)
def test_no_frame_of_ours_is_in_the_users_traceback(told, call, tmp_path):
    """It looks the same without us."""
    with pytest.raises(FileNotFoundError) as caught:
        call(tmp_path / "none")
    assert hearing.__file__ not in "".join(traceback.format_tb(caught.tb))
    assert str(tmp_path / "none") in [*told.read, *told.changed]


def test_errors_are_the_originals(told):
    """This includes errors about wrong arguments."""
    with pytest.raises(TypeError, match="missing required argument 'file'"):
        builtins.open()  # noqa: PTH123, SIM115 -- what is tested
    with pytest.raises(ValueError, match="invalid mode"):
        open("x", "no mode")  # noqa: PTH123, PLW1501, SIM115 -- as above


def test_a_path_of_the_users_is_asked_once(told, file):
    """Its code runs as often as without us."""
    asked = []

    class Mine:
        def __fspath__(self):
            asked.append(1)
            return str(file)

    open(Mine()).close()  # noqa: PTH123 -- what is tested
    assert len(asked) == 1
    assert told.read == [str(file)]


def test_a_name_in_an_open_folder_is_not_taken_for_another(told, file, monkeypatch):
    """It is not relative to the working folder."""
    monkeypatch.chdir("/")
    folder = os.open(file.parent, os.O_RDONLY)
    os.close(os.open("a", os.O_RDONLY, dir_fd=folder))
    os.close(folder)
    assert told.read == [str(file.parent)]


def test_the_functions_pass_for_themselves(told):
    """They have the same name, text and pickle; copying returns themselves."""
    for function in (open, os.open, os.remove):
        assert function.__doc__
        assert copy.deepcopy(function) is function
    assert open.__name__ == "open"
    assert builtins.open is io.open
