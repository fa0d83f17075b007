"""Compares ranks in a process group (``compare``) or from files (``read``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ipytorchseed.errors import LookupFailure, RanksDiffer, RanksError
from ipytorchseed.foreign import ContentError, Format
from ipytorchseed.ranks.causes import list_ranks
from ipytorchseed.ranks.judging import Expect, Judgement, expectations
from ipytorchseed.ranks.looking import Look, Rank, take
from ipytorchseed.ranks.report import RanksView
from ipytorchseed.rng.seeds import process_group


def compare(
    *, model: object = None, check: bool = False, expect: Expect | None = None, **named: object
) -> RanksView:
    """Compare the sources, the settings and the named objects of all ranks.

    This is a collective call: every rank must make it.

    Args:
        model: The model, whose parameters and buffers are compared by name.
        check: Whether to raise an error if the ranks differ in something that should be equal.
        expect: ``"same"`` or ``"distinct"`` by the name of a source. If a source without an
            expectation is distinct in all ranks, this is assumed to be on purpose, unless one rank
            is only ahead of another in the same stream.
        named: Further objects to compare, by name: an optimizer, a loader, a generator.

    Returns:
        A table, equal in all ranks. It prints itself and has ``to_json()``.

    Raises:
        RanksError: There is no process group, an expectation is invalid, or no rank has a source
            with an expectation.
        RanksDiffer: With ``check``: there are differences. Every rank raises the same error.

    Example:
        >>> its.ranks.compare(model=model, optimizer=optimizer, check=True)
    """
    wanted, gather = expectations(expect), _gatherer()
    view = side_by_side(gather(take(model, named)), wanted)
    if check and view.findings:
        raise RanksDiffer("; ".join(map(str, view.findings)))
    return view


def side_by_side(
    looks: Iterable[tuple[Rank, Look]], expect: Expect, notes: Sequence[str] = ()
) -> RanksView:
    """Return a table that compares several ranks, each inspected once.

    Args:
        looks: The ranks, each with its look.
        expect: The expectations: see ``compare``.
        notes: Remarks that are shown below the table.
    """
    ranks = {rank.rank: (rank, [look]) for rank, look in looks}
    return RanksView(Judgement(dict(sorted(ranks.items())), expect), notes)


def _gatherer() -> Any:  # Callable[[object], list]
    """Return a function that gathers an object from each rank.

    Raises:
        RanksError: There is no process group.
    """
    group = process_group()
    if group is not None:

        def gather(mine: object) -> list[Any]:
            found: list[Any] = [None] * group.get_world_size()
            group.all_gather_object(found, mine)
            return found

        return gather
    accelerate: Any = sys.modules.get("accelerate")
    begun = accelerate is not None and accelerate.state.is_initialized()  # this starts nothing
    if begun and accelerate.PartialState().num_processes > 1:
        return lambda mine: accelerate.utils.gather_object([mine])  # without a group: TPUs
    raise RanksError(
        "ranks are compared in a process group, and this process has none: call"
        " torch.distributed.init_process_group first, or start it by torchrun or accelerate"
    )


# The maximum number of ranks whose files are looked for.
_MOST = 1024

# Seconds by which the modification time of a file may lag behind the rank's clock.
_SLACK = 1.0

_WATCH = "call its.ranks.watch(model) in each rank"
_HINT = "run the ranks again with its.ranks.watch(model)"
_FORMAT = Format("rank's file", RanksError, _HINT, size=1 << 31, named=False)
# The maximum size of a line in bytes.
_LONGEST = 1 << 26


def _read_records(path: Path) -> Iterator[Any]:
    """Yield the records of a rank's file: a ``Rank``, then ``Look``s.

    Raises:
        RanksError: A line is not such a record, or the file is empty.
    """
    kind: type[Rank | Look] = Rank
    with _FORMAT.errors(path), _FORMAT.open(path) as file:
        while line := file.readline(_LONGEST):
            yield msgspec.convert(_FORMAT.decode(line), kind)
            kind = Look
        if kind is Rank:
            raise ContentError("it is empty")


class _File(msgspec.Struct):
    """The file of a rank.

    Attributes:
        rank: The first record.
        rest: The other records.
        last: When the file was last written, in seconds since 1970.
        note: A clause about the first damaged line; empty if no line is damaged.
    """

    rank: Rank
    rest: Iterator[Look]
    last: float
    note: str = ""

    def looks(self) -> Iterator[Look]:
        """Yield the looks in the file, up to the first damaged line."""
        number = 1
        try:
            for number, look in enumerate(self.rest, 2):  # noqa: B007 -- for the note
                yield look
        except RanksError:
            self.note = f"rank {self.rank.rank}'s file is intact only up to line {number}"


def read(folder: str | os.PathLike[str], *, expect: Expect | None = None) -> RanksView:
    """Compare the files that ranks wrote with ``its.ranks.watch``.

    The result names the rank that diverged first, the step, and the source or tensor that differs.

    Args:
        folder: The folder with the files.
        expect: ``"same"`` or ``"distinct"`` by the name of a source. A source without an
            expectation must stay equal if it was equal in all ranks at the start. If it was
            distinct in all ranks at the start, or after each rank seeded it, it may differ.

    Returns:
        A table. It prints itself, shows itself in a notebook and has ``to_json()``.

    Raises:
        LookupFailure: The folder does not exist, or no rank has written to it.
        RanksError: An expectation is neither ``"same"`` nor ``"distinct"``, or no rank has its
            source.
    """
    wanted = expectations(expect)
    found, unread = _files(Path(folder))
    files, notes = _of_one_launch(found)
    judgement = Judgement({each.rank.rank: (each.rank, each.looks()) for each in files}, wanted)
    notes += [*unread, *(each.note for each in files if each.note)]
    return RanksView(judgement, notes)


def _files(folder: Path) -> tuple[list[_File], list[str]]:
    """Return the files in a folder sorted by rank, and notes about unreadable files.

    Raises:
        LookupFailure: The folder does not exist, or has no readable file.
    """
    if not folder.is_dir():
        raise LookupFailure(f"there is no folder {folder}; {_WATCH}")
    found, notes = [], []
    for path in folder.glob("rank-*.jsonl"):
        records = _read_records(path)
        try:
            found.append(_File(next(records), records, path.stat().st_mtime))
        except RanksError as error:
            notes.append(f"the file {path.name} was skipped: {error}")
    if not found:
        raise LookupFailure(f"no rank has written to {folder} yet; {_WATCH}")
    return sorted(found, key=lambda each: each.rank.rank), notes


def _of_one_launch(files: list[_File]) -> tuple[list[_File], list[str]]:
    """Return the files of the last launch, and notes about old and missing files."""
    newest = max((each.rank for each in files), key=lambda rank: rank.started)
    kept, notes = [], []
    for each in files:
        one = each.rank
        together = (one.world, one.launch) == (newest.world, newest.launch)
        if together and each.last + _SLACK >= newest.started:
            kept.append(each)
        else:
            notes.append(f"rank {one.rank}'s file is from an earlier launch and was skipped")
    there = {each.rank.rank for each in kept}
    gone = [each for each in range(min(newest.world or 0, _MOST)) if each not in there]
    if gone:
        notes.append(f"there is no file from {list_ranks(gone)}")
    return kept, notes
