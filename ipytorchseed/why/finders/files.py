"""Finds files that the cell reads and whose content differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ipytorchseed.ledger.records import FileRead, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import FOLDER, Evidence, does
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import find_setter
from ipytorchseed.why.words import many

# Actions that remove folders.
_REMOVES_FOLDERS = lazy_pattern(r"rmtree|rmdir|removedirs|cleanup|\brm\b")

# Actions that change where modules are found.
_SETS_PATH = lazy_pattern(r"\bsys\.path\b|\bPYTHONPATH\b|\baddsitedir\b|\bchdir\b|^%cd\b")

# Finds the existing path in an error.
_EXISTS = lazy_pattern(r"^FileExistsError: .*?'(.+)'")

_NO_LONGER = "no longer reads"

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
            yield Cause(
                kind="file",
                name=after.path,
                message=_how(evidence, before, after, blame),
                proof=f"content {before.digest[:8]} → {after.digest[:8]}",
                blame=blame,
            )
        elif same and before.modified != after.modified and evidence.run.asks_when_written:
            message = f"{evidence.path(after.path)} was written again, and this cell asks when"
            message += evidence.doings(blame)
            yield Cause("file", after.path, message, blame=blame)
    yield from _modules(evidence)


def _writer(evidence: Evidence, file: FileRead) -> tuple[Blame, ...]:
    """Return the run that wrote a file, as recorded or by the file's time."""
    return _recorded_writer(evidence, file) or _running_writer(evidence, file)


def _recorded_writer(
    evidence: Evidence, file: FileRead, *, gone: bool = False
) -> tuple[Blame, ...]:
    """Return the last run that is recorded to have written or removed a file.

    Args:
        evidence: The evidence.
        file: The file.
        gone: Whether it no longer exists.
    """
    heard = [
        Blame(run, _deed(run, file, path, gone=gone))
        for run in evidence.history
        for path in run.outside.wrote
        if path == file.path
        or file.path.startswith(f"{path}/")  # a link to a folder, or a removed folder
        or (file.is_folder and _parent(path) == file.path)
    ]
    return (*heard[-1:],)


def _running_writer(evidence: Evidence, file: FileRead) -> tuple[Blame, ...]:
    """Return the last run that was running at a file's modification time."""
    if file.is_folder or not file.modified:
        return ()
    written = file.modified / 1e9
    ran = [Blame(run, "ran as it was written") for run in evidence.history if run.lasts_at(written)]
    return (*ran[-1:],)


def _deed(run: Run, file: FileRead, path: str, *, gone: bool) -> str:
    """Return what a run did that changed a file or a folder, by the path it wrote to."""
    if path == file.path:
        return _REMOVED if gone or file.size < 0 else _WROTE
    if file.is_folder and _parent(path) == file.path:
        return f"wrote {path[len(file.path) :]}"
    how = "moved or removed" if gone or file.size < 0 else "replaced"
    how = "removed" if does(run, _REMOVES_FOLDERS) else how
    return f"{how} {os.path.basename(path)}"  # noqa: PTH119 -- it is a string


def _modules(evidence: Evidence) -> Iterator[Cause]:
    """Yield the modules that both runs loaded again, from files of other content."""
    for name, after in evidence.run.loaded.items():
        before = evidence.against.loaded.get(name)
        if before is not None and before.same(after) is False:
            blame, moved = _writer(evidence, after), ""
            if before.path != after.path:
                paths = evidence.path(after.path), evidence.path(before.path)
                moved = "`{}` is now imported from {}, not from {}".format(name, *paths)
                movers = [run for run in evidence.history if does(run, _SETS_PATH)]
                by = tuple(Blame(run, "changed where modules are found") for run in movers[-1:])
                # The other file may be older than the earlier run, so its time proves nothing.
                blame = _recorded_writer(evidence, after) or by or blame
                moved += evidence.doings(blame)
            message = moved or _how(evidence, before, after, blame)
            yield Cause("file", after.path, message, blame=blame)


def _how(evidence: Evidence, before: FileRead, after: FileRead, blame: Sequence[Blame]) -> str:
    """Return a sentence about how a file that the cell reads changed, and who did it."""
    path, who = evidence.path(after.path), evidence.who(blame)
    size = f"{before.size:,} → {after.size:,} bytes"
    if before.size == after.size:
        size = f"{after.size:,} bytes, other content"
    if before.size < 0:
        change, size = f"{path} did not exist before", ""
    elif after.size < 0:
        change, size = f"{path} no longer exists", ""
    else:
        change = f"{path} changed"
    how = blame[-1].how if blame else ""
    own = [each.run.cell == evidence.run.cell for each in blame if each.run is not None]
    if own and all(own) and not evidence.two_cells:
        return f"this cell writes {path}, which it also reads ({size})"
    if how in (_WROTE, _REMOVED):
        change, who = f"{who} {how.removesuffix('it')}{path}, which this cell reads", ""
    told = f"{change} ({size})" if size else change
    return f"{told}: {who} {how}" if who else told


def _moved_files(evidence: Evidence, before: str, after: str) -> list[Cause]:
    """Return causes for files of the same name in the new working folder."""
    earlier = {file.path for file in evidence.against.files}
    blame = tuple(Blame(run, "changed the folder") for run in find_setter(evidence, FOLDER))
    causes = []
    for file in evidence.run.files:
        name = file.path.removeprefix(f"{after}/")
        if name != file.path and f"{before}/{name}" in earlier and file.path not in earlier:
            now = os.path.relpath(file.path, before)
            who = evidence.who(blame)
            changed = f"{who} changed the working folder" if who else "the working folder changed"
            message = f"{changed}: `{name}` is now `{now}`"
            fix = f"import os; os.chdir({before!r})"
            causes.append(Cause("file", file.path, message, fix=fix, blame=blame))
    return causes


def find_other_files(evidence: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Yield files that only one of the runs read, and listed folders that changed.

    A new or removed file is more specific than a changed path or list of paths. Listing a folder
    may not affect the result, so a folder is only named if nothing else is a cause.

    Args:
        evidence: The evidence.
        others: Whether another cause was found. It may have led the cell to other files, except for
            new or removed files in a folder that the cell lists.
    """
    folders = evidence.against.settings.get(FOLDER), evidence.run.settings.get(FOLDER)
    if folders[0] != folders[1] and None not in folders:
        elsewhere = _moved_files(evidence, *map(str, folders))
        if elsewhere:
            yield from elsewhere
            return
    there = _EXISTS.search(evidence.run.outputs.error or "")
    if there is not None and not _EXISTS.search(evidence.against.outputs.error or ""):
        path = os.path.join(str(folders[1] or ""), there[1])  # noqa: PTH118 -- they are strings
        yield Cause("file", path, f"{evidence.path(path)} already exists")
        return
    earlier, later = (
        {file.path: file for file in run.files} for run in (evidence.against, evidence.run)
    )
    both = [(earlier[path], later[path]) for path in sorted(earlier.keys() & later.keys())]
    listed = [pair for pair in both if pair[1].is_folder and pair[0].same(pair[1]) is False]
    came = [later[path] for path in sorted(later.keys() - earlier.keys())]
    went = [earlier[path] for path in sorted(earlier.keys() - later.keys())]
    found = [
        _other(evidence, file, how)
        for files, how in ((came, "now reads"), (went, _NO_LONGER))
        for file in files
        if not (file.is_folder or file.size < 0)  # a missing file had no content
    ]
    if not (others or found):
        yield from (_listing(evidence, *pair) for pair in listed)
    changed = {folder.path for _, folder in listed}
    since = {file.path for file in (*came, *went) if _was_created_or_removed(evidence, file)}
    for cause in found:
        if not others or (_parent(cause.name) in changed and cause.name in since):
            yield cause
        else:
            yield Cleared("file", cause.name, "other causes account for it")


def _was_created_or_removed(evidence: Evidence, file: FileRead) -> bool:
    """Return whether a file may have been created or removed since the earlier run."""
    since = file.modified / 1e9 >= evidence.against.started or evidence.against.lasts_at(
        file.modified / 1e9
    )
    return since or not file.modified or bool(_recorded_writer(evidence, file))


def _other(evidence: Evidence, file: FileRead, how: str) -> Cause:
    """Return the cause for a file that only one of the runs read."""
    if file.path in evidence.made:
        who = (
            evidence.name(evidence.against)
            if evidence.same_kernel
            else "the earlier run of the cell"
        )
        message = f"{who} made {evidence.path(file.path)}, which is there now"
        return Cause("file", file.path, message, blame=(Blame(evidence.against, "made it"),))
    gone = how == _NO_LONGER
    blame = _recorded_writer(evidence, file, gone=True) if gone else _writer(evidence, file)
    message = f"this cell {how} {evidence.path(file.path)}{evidence.doings(blame)}"
    return Cause("file", file.path, message, blame=blame)


def _listing(evidence: Evidence, before: FileRead, after: FileRead) -> Cause:
    """Return the cause for a folder that both runs listed, with other files in it."""
    blame = _writer(evidence, after)
    what = "holds other files than before"
    if before.size != after.size:
        what = f"holds {many(after.size, 'file')}, not {before.size:,}"
    message = f"{evidence.path(after.path)}, which this cell lists, {what}{evidence.doings(blame)}"
    return Cause("file", after.path, message, blame=blame)


def _parent(path: str) -> str:
    """Return the path of a file's folder, with a slash as in listings."""
    return path[: path.rindex("/") + 1] if "/" in path else ""
