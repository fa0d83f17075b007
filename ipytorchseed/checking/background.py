"""The process in which ``%check`` runs the notebook's file.

The user's kernel, in which ``%check`` was typed, is not touched. The process reads one request from
standard input, and writes its progress and its findings as lines of JSON. It ends, with its
kernels, when standard input is closed, for example because the user's kernel died.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import in_brief
from ipytorchseed.render.notebook_check import Fresh

# A folder with more files or bytes is not copied.
_MOST_FILES, _MOST_BYTES = 20_000, 1 << 30

# The name in messages for the runs that the fresh run is compared with.
_NAME = "this kernel"

# Kinds of causes that exist only in the user's kernel: no edit of the file removes them.
_NOT_FIXED = frozenset({"code", "input"})


class Request(Struct, frozen=True):
    """A notebook to run, and the runs to compare with.

    Attributes:
        path: The notebook.
        ledger: The ledger's file, which has the runs of the user's kernel.
        runs: The ledger's numbers of the runs to compare with.
        copy: Whether to run the notebook in a copy of its folder.
    """

    path: str
    ledger: str
    runs: list[int]
    copy: bool = False


def main() -> None:
    """Answer the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=Request)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the exit removes the folder
    threading.Thread(target=_end_with_asker, daemon=True).start()
    try:
        with tempfile.TemporaryDirectory(prefix="its-") as name:
            _check(request, Path(name))
    except Exception as error:  # noqa: BLE001 -- reported to the user's kernel
        _tell(Fresh(note=f"The file could not be run: {in_brief(error)}"))


def _end_with_asker() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _tell(news: Fresh) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(news) + b"\n")
    sys.stdout.buffer.flush()


def _check(request: Request, folder: Path) -> None:
    """Run the notebook once, compare it, and search for edits if they can help."""
    from ipytorchseed.checking import report
    from ipytorchseed.checking.fixing import fix_notebook
    from ipytorchseed.checking.kernel import Options
    from ipytorchseed.checking.running import Progress, Setup, check, check_one
    from ipytorchseed.checking.verdict import Verdict

    found = Fresh()

    def show(line: str) -> None:
        found.progress = line and f"{line} in a fresh kernel"
        if line:
            _tell(found)

    async def look(path: Path, setup: Setup) -> Verdict:
        verdict = await check_one(path, setup)
        if verdict.cells or verdict.fault:
            told = json.loads(report.as_json([verdict]))["notebooks"][0]
            found.verdict = {**told, "path": request.path, "note": ""}
        changes = () if verdict.first is None else verdict.first.changes
        found.changes = [f"{each.name or each.what}: {each.detail}" for each in changes]
        kinds = {each.kind for each in (() if verdict.origin is None else verdict.origin.causes)}
        if verdict.first is None or verdict.unreached or (kinds and kinds <= _NOT_FIXED):
            return verdict
        fresh = replace(setup, options=replace(setup.options, against=None))
        fixed = await fix_notebook(path, fresh, save=False, tag=False)
        found.edits = [*report.diffs([replace(fixed, path=Path(request.path))])][1:]
        found.note = "".join(f"Not fixed: {each}. " for each in fixed.obstacles).strip()
        return verdict

    path = _copied(Path(request.path), folder) if request.copy else Path(request.path)
    options = Options(kernel=_same_python(folder), against=_receipt(request, path))
    (verdict,) = check([path], options, Progress(show), look)
    if found.verdict is None:
        found.note = verdict.fault or verdict.note
    _tell(found)


def _receipt(request: Request, path: Path) -> Any:  # noqa: ANN401 -- a Receipt, imported when used
    """Return the runs of the user's kernel as a receipt."""
    from ipytorchseed.ledger.store import Ledger
    from ipytorchseed.receipts.privacy import Places, conceal, found_at
    from ipytorchseed.receipts.receipt import Receipt, find_stands
    from ipytorchseed.session.states import LedgerStates

    with Ledger.open(Path(request.ledger), read_only=True) as ledger:
        runs = [run for run in map(ledger.run, request.runs) if run is not None]
        there, here = (Places.here(str(each)) for each in (request.path, path))
        told = [found_at(replace(conceal(run, there), kernel=_NAME), here) for run in runs]
        return Receipt(_NAME, tuple(told), find_stands(runs, lambda: LedgerStates(ledger)))


def _same_python(folder: Path) -> str:
    """Make a kernelspec for this Python, and return its name."""
    from ipykernel.kernelspec import write_kernel_spec

    home = folder / "kernels" / "its-same"
    write_kernel_spec(home)
    os.environ["JUPYTER_PATH"] = os.pathsep.join([str(folder), os.environ.get("JUPYTER_PATH", "")])
    return home.name


def _copied(path: Path, folder: Path) -> Path:
    """Copy a notebook's folder, link its siblings, and return the copied notebook.

    Raises:
        UncheckableError: The folder is too large.
    """
    from ipytorchseed.errors import UncheckableError

    room = [_MOST_FILES, _MOST_BYTES]

    def copy(source: str, to: str) -> None:
        room[:] = room[0] - 1, room[1] - Path(source).stat().st_size
        if min(room) < 0:
            raise UncheckableError(
                "its cells write files, and its folder is too large to copy; --yes runs it there"
            )
        shutil.copy2(source, to)

    own = path.parent
    hidden = shutil.ignore_patterns(".*")
    shutil.copytree(own, folder / "place" / own.name, ignore=hidden, copy_function=copy)
    for each in own.parent.iterdir():  # the notebook may read ``../data``
        if each.name != own.name:
            (folder / "place" / each.name).symlink_to(each)
    return folder / "place" / own.name / path.name


if __name__ == "__main__":
    main()
