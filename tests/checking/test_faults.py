"""Faults: each is reported in one line, the others go on, no process stays."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from ipytorchseed.checking import kernel
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.running import Watcher
from ipytorchseed.checking.running import check as checked
from ipytorchseed.checking.verdict import Verdict
from ipytorchseed.errors import UncheckableError
from tests.checking.books import alive, book, look
from tests.kernel import ROOT


@pytest.fixture
def mark(monkeypatch):
    """A word in the environment of every process that the test starts."""
    word = uuid.uuid4().hex
    monkeypatch.setenv("BOOK_MARK", word)
    return word


def gone(mark):
    """Wait a moment for processes to end; return those that did not."""
    until = time.monotonic() + 10
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.1)
    return alive(mark)


def test_each_fault_is_told_and_the_others_go_on(tmp_path, mark):
    """Files that are not notebooks, broken kernels, and one good notebook."""
    said = {}

    def case(words, name, *cells, **more):
        said[book(tmp_path / name, *cells, **more)] = words

    def file(words, name, content):
        path = tmp_path / name
        path.write_bytes(content)
        said[path] = words

    said[tmp_path / "none.ipynb"] = "no such file"
    file("invalid JSON", "torn.ipynb", b'{"cells": [')
    file("it is not UTF-8", "binary.ipynb", b"\xff\xfe\x00")
    file("no nbformat", "other.ipynb", b'{"a": 1}')
    file("no nbformat", "list.ipynb", b"[]")
    file(
        "in notebook format 3",
        "old.ipynb",
        json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}).encode(),
    )
    file(
        "not a notebook",
        "empty.ipynb",
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode(),
    )
    case(
        "kernel 'nowhere' is not installed; choose another with --kernel: ",
        "missing",
        "1",
        spec="nowhere",
    )
    case("the kernel died in In[2]", "dies", "1", "import os; os._exit(1)", "3")
    case(
        "In[1] took longer than 3 s (--timeout)",
        "hangs",
        "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\ntime.sleep(600)",
    )
    case(
        "In[1] took longer than 1 s (--timeout)",
        "prints",
        "while True: print('x' * 1000, flush=True)",
    )
    case("In[1] asks for input", "asks", "name = input()")
    case(
        "In[2] raises ZeroDivisionError: division by zero; if it may, give the cell the tag",
        "raises",
        "1",
        "1 / 0",
        "3",
    )
    case(
        "In[1] raises OSError: no dot; if it may",
        "unshown",
        "class Graph:\n    def _repr_mimebundle_(self, **_):\n        raise OSError('no dot')\nGraph()",
    )
    case("In[1] raises ValueError: no; if it may", "blank", "raise ValueError('\\nno.\\n\\n')")
    case(None, "sound", "1")
    cold = [path for path in said if path.stem in {"missing", "dies", "hangs", "sound"}]
    busy = [path for path in said if path.stem == "prints"]  # until its time is over
    warm = [path for path in said if path not in (*cold, *busy)]
    verdicts = [
        *look(*warm, timeout=30),
        *look(*busy, timeout=1),
        *look(*cold, cold=True, timeout=3),
    ]
    assert [verdict.path for verdict in verdicts] == [*warm, *busy, *cold]
    hidden = {each.path.stem: str(each.unreached) for each in verdicts if each.unreached}
    assert hidden == {
        "dies": "1 of 3 cells was not reached",
        "raises": "1 of 3 cells was not reached",
    }
    for verdict in verdicts:
        words = said[verdict.path]
        if words is None:
            assert (verdict.reproducible, verdict.exit_code) == (True, 0)
            continue
        assert words in verdict.fault
        assert "\n" not in verdict.fault
        assert (verdict.reproducible, verdict.exit_code) == (None, 2)
    assert gone(mark) == []


def test_a_cell_that_shows_without_end_is_ended(tmp_path, monkeypatch, caplog):
    """It ends before it takes all memory, also without a timeout.

    No task keeps receiving its output.
    """
    monkeypatch.setattr(kernel, "_MOST", 1 << 20)
    (verdict,) = look(book(tmp_path / "endless", "while True: print('x' * 1000, flush=True)"))
    assert verdict.fault.startswith("In[1] shows more than 1 MB, too much to compare")
    gc.collect()
    assert not [each for each in caplog.records if each.name == "asyncio"]


# nbclient sends this output back to the kernel, and may then miss the cell's reply.
SHOWS = """\
import ipywidgets
from IPython.display import display
shown = ipywidgets.Output()
display(shown)
with shown:
    for number in range(20):
        print(number)
        display(number)
"""


@pytest.mark.timeout(100)  # it would wait without end
def test_no_reply_is_missed_behind_what_a_widget_shows(tmp_path):
    """Progress bars of rich and ``ipywidgets.interact`` show output this way."""
    (verdict,) = look(book(tmp_path / "shows", SHOWS, SHOWS, SHOWS))
    assert verdict.reproducible


def nested(depth):
    """Return the text of a notebook with lists in lists in its metadata."""
    deep = "[" * depth + "]" * depth
    return f'{{"nbformat": 4, "nbformat_minor": 5, "metadata": {{"a": {deep}}}, "cells": []}}'


def test_what_is_no_file_of_text_is_told_at_once(tmp_path, monkeypatch):
    """Pipes, devices, folders, unreadable or endless files, and endless nesting."""
    said = {}

    def path(name, words):
        said[Path(f"{name}.ipynb")] = words
        return Path(f"{name}.ipynb")

    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    os.mkfifo(path("pipe", "it is a pipe or a device, not a file"))
    path("zeros", "it is a pipe or a device, not a file").symlink_to("/dev/zero")
    path("folder", "it is a folder, not a file").mkdir()
    path("around", "it cannot be read: Too many levels").symlink_to("around.ipynb")
    path("x" * 300, "it cannot be read: File name too long")
    deep = 900 if sys.version_info < (3, 12) else 5_000  # parsed, and then too deep to go through
    for name, depth in (("deep", deep), ("deeper", 100_000)):
        path(name, "nested too deeply").write_text(nested(depth))
    with path("huge", "it is too large: 1,099,511,627,776 bytes").open("wb") as file:
        file.truncate(1 << 40)
    shut = path("shut", "it cannot be read: Permission denied")
    shut.touch(mode=0)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path("socket", "it is a pipe or a device, not a file").name)
        with unprivileged():
            verdicts = look(*said)
    assert [verdict.path for verdict in verdicts] == [*said]
    for verdict in verdicts:
        assert said[verdict.path] in verdict.fault
        assert "\n" not in verdict.fault
        assert verdict.exit_code == 2


@contextmanager
def unprivileged():
    """Drop to a user who may not read every file, if the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


ODD = [None, 3, "x", [], {}, [None], {"a": 1}, True, "\ud800", -1.5]


def test_json_that_is_hardly_a_notebook_is_told_or_read(tmp_path):
    """Values of the wrong type in any place.

    The result is one line, or a notebook that can be run.
    """
    path = book(tmp_path / "sound", "1 + 1", "#md Words.")
    sound = json.loads(path.read_text())
    faults = []
    for where in places(sound):
        for odd in ODD:
            whole = copy.deepcopy(sound)
            holder = whole
            for key in where[:-1]:
                holder = holder[key]
            holder[where[-1]] = odd
            path.write_text(json.dumps(whole))
            try:
                notebook = read(path)
            except UncheckableError as error:
                faults.append(str(error))
                continue
            assert isinstance(notebook.kernel, str)
            for cell in notebook.cells:
                assert f"{cell.source}{cell.id}{sorted(cell.tags)}".encode()
                assert notebook.line(cell)
    assert len(faults) > 50
    assert not any("\n" in fault for fault in faults)


def places(value, where=()):
    """Yield the keys that lead to each value in another."""
    if where:
        yield where
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*where, key))


def test_a_display_that_is_nested_without_end_is_told(tmp_path):
    """It is reported when compared; the other notebook is checked to its end."""
    shows = (
        "value = []\nfor _ in range(600): value = [value]\n"
        "from IPython.display import display\n"
        "display({'application/json': value}, raw=True)"
    )
    deep, sound = look(book(tmp_path / "deep", shows), book(tmp_path / "sound", "1"))
    assert "nested too deeply" in deep.fault
    assert sound.reproducible is True


def test_a_notebook_without_code_repeats(tmp_path):
    """There is nothing to run, and the report says so."""
    verdict = look(book(tmp_path / "prose", "#md Words."))[0]
    assert (verdict.reproducible, verdict.fault) == (True, None)
    assert "no code cells" in verdict.note


def test_a_check_runs_where_a_loop_runs(tmp_path):
    """An event loop runs in a notebook, or after other tests."""
    path = book(tmp_path / "sound", "1 + 1")

    async def ask():
        return look(path)

    with ThreadPoolExecutor(1) as apart:  # in which no loop runs yet
        assert apart.submit(asyncio.run, ask()).result()[0].reproducible is True


def test_a_kernel_without_the_extension_is_told(tmp_path, monkeypatch):
    """Its environment lacks the package: the line says where to install it."""
    spec = tmp_path / "jupyter" / "kernels" / "bare"
    spec.mkdir(parents=True)
    hide = "import sys; sys.modules['ipytorchseed'] = None; from ipykernel import kernelapp; kernelapp.launch_new_instance()"
    argv = [sys.executable, "-c", hide, "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "", "language": "python"})
    )
    other = spec.parent / "other"
    other.mkdir()
    (other / "kernel.json").write_text(
        json.dumps({"argv": ["R"], "display_name": "", "language": "R"})
    )
    broken = spec.parent / "broken"
    broken.mkdir()
    (broken / "kernel.json").write_text(
        json.dumps(
            {
                "argv": [sys.executable, "-c", "raise SystemExit('no such thing')"],
                "display_name": "",
                "language": "python",
            }
        )
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    path = book(tmp_path / "any", "1")
    assert "'bare' cannot load ipytorchseed; install it" in look(path, kernel="bare")[0].fault
    assert "'other' runs R, not Python" in look(path, kernel="other")[0].fault
    assert "'broken' does not start: no such thing" in look(path, kernel="broken")[0].fault


def test_no_room_for_records(tmp_path, monkeypatch):
    """A temporary folder that is not writable is reported like any other fault."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    fault = look(book(tmp_path / "any", "1"))[0].fault
    assert "no room for its records" in fault


def test_a_folder_that_cannot_be_written(tmp_path):
    """A check writes nothing next to the notebook."""
    path = book(tmp_path / "any", "1")
    tmp_path.chmod(0o500)
    try:
        assert look(path)[0].exit_code == 0
    finally:
        tmp_path.chmod(0o700)
    assert [each.name for each in tmp_path.iterdir()] == ["any.ipynb"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_every_kernel(tmp_path, mark, number):
    """After Ctrl-C, unfinished notebooks are interrupted; the exit code is 2.

    No process is left.
    """
    waits = "import pathlib, time\npathlib.Path('{0}').touch()\ntime.sleep(600)"
    paths = [book(tmp_path / name, waits.format(name)) for name in ("a", "b")]
    process = subprocess.Popen(
        [sys.executable, "-m", "ipytorchseed", "check", "-j", "2", *map(str, paths)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 100
    while not (tmp_path / "a").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert (tmp_path / "a").exists()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == ""
    assert out.count(".ipynb: interrupted") == 2
    assert gone(mark) == []


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_ignored_signal_stays_ignored(tmp_path, number):
    """A background job of a script ignores signals.

    Any other handler is restored after the check.
    """

    async def way(path, _setup):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.raise_signal(number)
        await asyncio.sleep(0)
        return Verdict(path)

    def own(*_):
        pytest.fail("the check ends its tasks itself")

    usual = signal.getsignal(number)
    try:
        for handler in (signal.SIG_IGN, own):
            signal.signal(number, handler)
            (verdict,) = checked([tmp_path / "any.ipynb"], kernel.Options(), Watcher(), way)
            assert not verdict.fault
            assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, usual)


def test_no_notebook_waits_for_parsers_of_addresses(tmp_path):
    """They are built when other code first asks jsonschema for such a format."""
    path = book(tmp_path / "one", "1")
    program = f"""
import sys
from pathlib import Path
from ipytorchseed.checking.notebook import read
read(Path({str(path)!r}))
assert "lark" not in sys.modules
from jsonschema import Draft7Validator, FormatChecker
iri = Draft7Validator({{"format": "iri"}}, format_checker=FormatChecker())
iri.validate("https://example.org/é")
assert not iri.is_valid("<>")
assert "lark" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
