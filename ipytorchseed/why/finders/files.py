"""A file that the cell reads has other content."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

from ipytorchseed.why.explanation import Blame, Cause, Cleared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.ledger.records import FileRead
    from ipytorchseed.why.evidence import Evidence


_TICK = 0.01
"""Seconds by which a file system's clock may be behind."""

FOLDER = "folder"
"""The setting that tells the working folder."""


def find_files(case: Evidence) -> tuple[list[Cause], list[Cleared]]:
    """Compare the files that both runs read."""
    causes: list[Cause] = []
    earlier = {file.path: file for file in case.against.files}
    for after in case.run.files:
        before = earlier.get(after.path)
        if before is None or before.same(after) is not False:
            continue
        blame = _writer(case, after)
        causes.append(
            Cause(
                kind="file",
                name=after.path,
                message=_how(before, after) + case.doings(blame),
                proof=f"content {before.digest[:8]} → {after.digest[:8]}",
                blame=blame,
            )
        )
    return [*causes, *_modules(case)], []


def _writer(case: Evidence, file: FileRead) -> tuple[Blame, ...]:
    """Return the run that wrote a file: one that was heard to, or that ran as it was written."""
    heard = [Blame(run, "wrote it") for run in case.history if file.path in run.wrote]
    ran = [
        Blame(run, "ran as it was written")
        for run in case.history
        if file.modified and run.started - _TICK <= file.modified / 1e9 <= run.started + run.seconds
    ]
    return (*(heard or ran)[-1:],)


def _modules(case: Evidence) -> Iterator[Cause]:
    """Name the modules that both runs were the first to import, from files of other content."""
    for name, after in case.run.loaded.items():
        before = case.against.loaded.get(name)
        if before is not None and before.same(after) is False:
            message = _how(before, after)
            if before.path != after.path:
                message = f"{name} is now imported from {after.path}, not from {before.path}"
            yield Cause("file", after.path, message)


def _how(before: FileRead, after: FileRead) -> str:
    if before.size < 0:
        return f"{after.path} did not exist before"
    if after.size < 0:
        return f"{after.path} does not exist any more"
    size = f"{before.size:,} → {after.size:,} bytes"
    if before.size == after.size:
        size = f"{after.size:,} bytes as before"
    return f"{after.path} has other content than before ({size})"


def _elsewhere(case: Evidence, before: str, after: str) -> list[Cause]:
    """Name files that have the same name in the folder that is the working folder now."""
    earlier = {file.path for file in case.against.files}
    blame: tuple[Blame, ...] = ()
    for run, later in pairwise([*case.history, case.run]):
        if later.settings.get(FOLDER) == after != run.settings.get(FOLDER):
            blame = (Blame(run, "changed the folder"),)
    causes = []
    for file in case.run.files:
        name = file.path.removeprefix(f"{after}/")
        if name != file.path and f"{before}/{name}" in earlier and file.path not in earlier:
            now = os.path.relpath(file.path, before)
            message = f"the working folder changed: {name} is now {now}{case.doings(blame)}"
            fix = f"import os; os.chdir({before!r})"
            causes.append(Cause("file", file.path, message, fix=fix, blame=blame))
    return causes


def find_other_files(case: Evidence, others: bool) -> tuple[list[Cause], list[Cleared]]:  # noqa: FBT001
    """Name the files that only one of the runs read, where nothing else accounts for the change.

    A file that came or went says what a changed path, or a changed list of paths, does not.

    Args:
        case: The evidence.
        others: Whether another cause was found. It may have led the cell to other files.
    """
    earlier, later = ({file.path for file in run.files} for run in (case.against, case.run))
    found = [
        *((path, "was not read before") for path in sorted(later - earlier)),
        *((path, "is not read any more") for path in sorted(earlier - later)),
    ]
    folders = case.against.settings.get(FOLDER), case.run.settings.get(FOLDER)
    if folders[0] != folders[1] and None not in folders:
        elsewhere = _elsewhere(case, *map(str, folders))
        if elsewhere:
            return elsewhere, []
    if others:
        return [], [Cleared("file", path, "other causes account for it") for path, _ in found]
    return [Cause("file", path, f"{path} {what}") for path, what in found], []
