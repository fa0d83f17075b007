"""A file that the cell reads has other content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.why.explanation import Cause, Cleared

if TYPE_CHECKING:
    from ipytorchseed.why.case import Case


def find_files(case: Case) -> tuple[list[Cause], list[Cleared]]:
    """Compare the files that both runs read."""
    causes: list[Cause] = []
    earlier = {file.path: file for file in case.against.files}
    for after in case.run.files:
        before = earlier.get(after.path)
        if before is None or before.same(after) is not False:
            continue
        size = (
            f"{before.size:,} → {after.size:,} bytes"
            if before.size != after.size
            else f"{after.size:,} bytes as before"
        )
        causes.append(
            Cause(
                kind="file",
                name=after.path,
                message=f"{after.path} has other content than before ({size})",
                proof=f"content {before.digest[:8]} → {after.digest[:8]}",
            )
        )
    return causes, []


def find_other_files(case: Case, others: bool) -> tuple[list[Cause], list[Cleared]]:  # noqa: FBT001
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
    if others:
        return [], [Cleared("file", path, "other causes account for it") for path, _ in found]
    return [Cause("file", path, f"{path} {what}") for path, what in found], []
