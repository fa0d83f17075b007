"""What brings an earlier result back: settings, the cells to run again, states to begin from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.why.again import Inputs
from ipytorchseed.why.explanation import Mend
from ipytorchseed.why.finders.generators import draws_from_where_it_begins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import FileRead, Run
    from ipytorchseed.why.case import Case
    from ipytorchseed.why.explanation import Cause

_MANY = 16  # commands; a longer way back is no help


def find_mend(case: Case, causes: Sequence[Cause]) -> Mend:
    """Find the way back from where the kernel stands now, not from where the later run began.

    Sources are put back last, for what makes an input anew may draw from them; the earlier text
    of the cell comes after that, since it is what is run next.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    if case.two_cells:
        return Mend()  # the one does not give the other's result
    inputs = Inputs(case)
    complete = bool(causes) and all(_is_mended(cause) for cause in causes)
    for name in case.against.reads:
        complete &= inputs.restore(name, case.against)
    if not causes:
        return Mend()
    settings = [cause.fix for cause in causes if cause.kind == "flag"]
    kept = _same_settings(case, inputs.again, causes) and _same_files(case, inputs.again)
    worth = complete or any(cause.kind == "rng" for cause in causes)
    rewind = worth and draws_from_where_it_begins(case)
    commands = [
        *filter(None, settings),
        *inputs.commands,
        *([f"%seed rewind {case.word(case.against)}"] if rewind else []),
        *(cause.fix for cause in causes if cause.kind == "code" and cause.fix),
    ]
    if len(commands) > _MANY:
        return Mend()
    return Mend(tuple(commands), complete and kept)


def _is_mended(cause: Cause) -> bool:
    """Tell whether a command puts back what differs, in this kernel, and to what it was."""
    return cause.goes_back and (cause.kind == "input" or bool(cause.fix))


def _same_settings(case: Case, again: Sequence[Run], causes: Sequence[Cause]) -> bool:
    """Tell whether the cells to run again ran under the settings that the earlier run had."""
    flags = [cause.name for cause in causes if cause.kind == "flag"]
    wanted = case.against.settings
    return all(run.settings.get(name) == wanted.get(name) for run in again for name in flags)


def _same_files(case: Case, again: Sequence[Run]) -> bool:
    """Tell whether the files that the cells to run again read were the same when last read."""
    latest: dict[str, FileRead] = {}
    for run in (case.run, *case.states.latest()):
        for file in run.files:
            latest.setdefault(file.path, file)
    return all(file.same(latest.get(file.path, file)) for run in again for file in run.files)
