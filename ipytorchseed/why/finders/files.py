"""Finds files that the cell reads and whose content differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ipytorchseed.ledger.records import FileRead
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import FOLDER, Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others
from ipytorchseed.why.finders.changers import find_setter

# Actions that change the module search path.
_SETS_PATH = lazy_pattern(r"\bsys\.path\b|\bPYTHONPATH\b|\baddsitedir\b|\bchdir\b|^%cd\b")

# Extracts the existing path from an error.
_EXISTS = lazy_pattern(r"^FileExistsError: .*?'(.+)'")

# For runs that are known to have changed a file.
_WROTE, _REMOVED = "wrote it", "removed it"


def find_files(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Compare the files that both runs read."""
    earlier = {file.path: file for file in evidence.against.files}
    for after in evidence.run.files:
        before = earlier.get(after.path)
        if before is None or after.is_folder:
            continue
        same, blame = before.same(after), _writer(evidence, after)
        if same is False:
            yield Cause("file", after.path, _how(evidence, before, after, blame), blame=blame)
        elif same and before.modified != after.modified and evidence.run.may_read_file_times:
            message = f"{evidence.path(after.path)} was written again, and this cell reads its time"
            yield Cause("file", after.path, message + evidence.doings(blame), blame=blame)
    for name, after in evidence.run.loaded.items():  # modules that both runs loaded again
        before = evidence.against.loaded.get(name)
        if before is not None and before.same(after) is False:
            yield _module(evidence, name, before, after)


def _writer(evidence: Evidence, file: FileRead, *, gone: bool = False) -> tuple[Blame, ...]:
    """Return the last run that wrote or removed a file.

    If no run is recorded to have done so, return the run during which the file was modified.

    Args:
        evidence: The evidence.
        file: The file.
        gone: Whether the file no longer exists.
    """
    heard = [
        Blame(run, _deed(file, path, gone=gone or file.size < 0))
        for run in evidence.history
        for path in run.outside.wrote
        if path == file.path
        or file.path.startswith(f"{path}/")  # a link to a folder, or a removed folder
        or (file.is_folder and _parent(path) == file.path)
    ]
    if file.modified and not (heard or gone or file.is_folder):
        runs = [run for run in evidence.history if run.lasts_at(file.modified / 1e9)]
        heard = [Blame(run, "was running when it was written") for run in runs]
    return (*heard[-1:],)


def _deed(file: FileRead, path: str, *, gone: bool) -> str:
    """Return a phrase about what a run did to a file or folder.

    Args:
        file: The file or folder.
        path: The path that the run wrote or removed. It may be a folder that contains the file, or
            an entry of the folder.
        gone: Whether the file no longer exists.
    """
    if path == file.path:
        return _REMOVED if gone else _WROTE
    if file.is_folder and _parent(path) == file.path:
        return f"wrote {path[len(file.path) :]}"
    how = "moved or removed" if gone else "replaced"
    return f"{how} {os.path.basename(path)}"  # noqa: PTH119 -- it is a string


def _module(evidence: Evidence, name: str, before: FileRead, after: FileRead) -> Cause:
    """Return the cause for a module whose file differed between the two runs."""
    blame = _writer(evidence, after)
    if before.path == after.path:
        return Cause("file", after.path, _how(evidence, before, after, blame), blame=blame)
    movers = [run for run in evidence.history if does(run, _SETS_PATH)]
    blame = tuple(Blame(run, "changed the module search path") for run in movers[-1:]) or blame
    paths = evidence.path(after.path), evidence.path(before.path)
    message = "`{}` is now imported from {}, not from {}".format(name, *paths)
    return Cause("file", after.path, message + evidence.doings(blame), blame=blame)


def _how(evidence: Evidence, before: FileRead, after: FileRead, blame: Sequence[Blame]) -> str:
    """Return a sentence about how an input file changed, and which run did it."""
    path, who = evidence.path(after.path), evidence.who(blame)
    state, size = "changed", f" ({before.size:,} → {after.size:,} bytes)"
    if before.size == after.size:
        size = f" ({after.size:,} bytes, other content)"
    if min(before.size, after.size) < 0:
        state, size = "did not exist before" if before.size < 0 else "no longer exists", ""
    how = blame[-1].how if blame else ""
    if how in (_WROTE, _REMOVED):
        return f"{who} {how.removesuffix('it')}{path}, which this cell reads{size}"
    return f"{path} {state}{size}{f': {who} {how}' if who else ''}"


def find_other_files(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Yield files that only one of the runs read, and listed folders that changed.

    A file that only one run read is a cause only if no other cause may have led the cell to it. A
    new or removed file in a folder that the cell lists is always a cause. A listed folder is a
    cause only if there is no other cause and no such file: the cell may ignore the list.
    """
    elsewhere = [*_moved_files(evidence), *_existing_files(evidence)]
    yield from elsewhere
    if elsewhere:
        return
    earlier, later = ({file.path: file for file in run.files} for run in evidence.both)
    both = [(earlier[path], later[path]) for path in sorted(earlier.keys() & later.keys())]
    listed = [now for was, now in both if now.is_folder and was.same(now) is False]
    came = [later[path] for path in sorted(later.keys() - earlier.keys())]
    went = [earlier[path] for path in sorted(earlier.keys() - later.keys())]
    found = [
        (file, _other(evidence, file, gone=file in went))
        for file in (*came, *went)
        if not (file.is_folder or file.size < 0)  # a missing file had no content
    ]
    if not found:
        yield from (unless_others(_listing(evidence, folder)) for folder in listed)
    changed = {folder.path for folder in listed}
    for file, cause in found:
        since = file.modified / 1e9 >= evidence.against.started
        if not (since or _writer(evidence, file, gone=True)):
            unchanged = f"not changed since {evidence.name(evidence.against)}"
            yield Cleared("file", file.path, unchanged, is_tested=False)
        else:
            yield cause if _parent(file.path) in changed else unless_others(cause)


def _moved_files(evidence: Evidence) -> Iterator[Cause]:
    """Yield files that have the same name as before, in another working folder."""
    before, after = (run.settings.get(FOLDER) for run in evidence.both)
    if before == after or None in (before, after):
        return
    earlier = {file.path for file in evidence.against.files}
    blame = tuple(Blame(run, "changed the folder") for run in find_setter(evidence, FOLDER))
    who = evidence.who(blame)
    changed = f"{who} changed the working folder" if who else "the working folder changed"
    for file in evidence.run.files:
        name = file.path.removeprefix(f"{after}/")
        if f"{before}/{name}" in earlier and file.path not in earlier:
            message = f"{changed}: `{name}` is now `{os.path.relpath(file.path, before)}`"
            fix = f"import os; os.chdir({before!r})"
            yield Cause("file", file.path, message, fix=fix, blame=blame)


def _existing_files(evidence: Evidence) -> Iterator[Cause]:
    """Yield the file or folder whose existence raised an error in the later run only."""
    before, after = (_EXISTS.search(run.outputs.error or "") for run in evidence.both)
    if after is not None and before is None:
        folder = str(evidence.run.settings.get(FOLDER) or "")
        path = os.path.join(folder, after[1])  # noqa: PTH118 -- they are strings
        yield Cause("file", path, f"{evidence.path(path)} already exists")


def _other(evidence: Evidence, file: FileRead, *, gone: bool) -> Cause:
    """Return the cause for a file that only one of the runs read."""
    blame = _writer(evidence, file, gone=gone)
    how = "no longer reads" if gone else "now reads"
    message = f"this cell {how} {evidence.path(file.path)}{evidence.doings(blame)}"
    return Cause("file", file.path, message, blame=blame)


def _listing(evidence: Evidence, after: FileRead) -> Cause:
    """Return a cause: the files changed in a folder that both runs listed."""
    blame = _writer(evidence, after)
    message = f"{evidence.path(after.path)}, which this cell lists, holds other files than before"
    return Cause("file", after.path, message + evidence.doings(blame), blame=blame)


def _parent(path: str) -> str:
    """Return the path of a file's folder with a trailing slash, or ""."""
    return path[: path.rindex("/") + 1] if "/" in path else ""
