"""The causes of ``%why``, reworded for a check: each fix has to mend the notebook itself."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import zip_longest

from msgspec.structs import replace

from ipytorchseed.render.text import escaped, wrap
from ipytorchseed.why.explanation import Cause

_SEED = {"python": "random.seed(42)", "numpy": "numpy.random.seed(42)"}
_OURS = "%seed 42"
_UNSEEDED = "is not seeded before this cell"
_PAST = ("%seed rewind", "%replay", "%recall")
_SEEDED = ("made", "moved", "reseeded", "seeded")
"""The words with which the blame of a run begins that seeded a source, or set its state."""


def is_unseeded(cause: Cause) -> bool:
    """Return whether a cause, as reworded here, is a source that nothing has seeded."""
    return cause.kind == "rng" and cause.message.startswith(f"{cause.name} {_UNSEEDED}")


def for_rerun(cause: Cause) -> Cause:
    """Reword a cause for a cell that is not safe to run again.

    Args:
        cause: As ``%why`` tells it.
    """
    if cause.kind == "rng":
        return replace(cause, fix="%%deterministic 42")  # it then begins at the same place always
    return replace(cause, fix="") if cause.fix.startswith(_PAST) else cause


def for_fresh_kernels(cause: Cause, unseeded: Container[str]) -> Cause:
    """Reword a cause for a difference between two fresh kernels.

    Args:
        cause: As ``%why`` tells it.
        unseeded: The sources whose states differed between the two kernels from the start.
    """
    if cause.kind == "environment" and cause.name == "PYTHONHASHSEED":
        return replace(
            cause,
            message="string hashes, and so the order of sets of strings, are random in each kernel",
            fix="ipytorchseed kernel install",
        )
    if cause.kind == "rng" and (cause.prevents or cause.name in unseeded):
        seeded = any(each.how.startswith(_SEEDED) for each in cause.blame)
        if not seeded:
            message = f"{cause.name} {_UNSEEDED}, so it starts differently after every restart"
            fix = "torch.manual_seed(42)" if cause.name.startswith("torch.") else _OURS
            return replace(cause, message=message, fix=_SEED.get(cause.name, fix), blame=())
    return replace(cause, fix="") if cause.fix.startswith(_PAST) else cause


def tell(causes: Sequence[Cause]) -> Iterator[str]:
    """Yield the lines on causes: what each is, what mends it, what experiments found.

    A fix for several in a row is shown once, below the last of them.
    """
    for cause, after in zip_longest(causes, causes[1:]):
        yield wrap(cause.message, first="  ▲ ")
        if after is None or after.fix != cause.fix:
            yield from (f"    try: {escaped(line)}" for line in cause.fix.splitlines())
        if cause.finding.how:
            yield wrap(cause.finding.how, first="    ")
