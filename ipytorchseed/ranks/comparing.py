"""``compare`` and ``read``: compares ranks in a process group or from files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ipytorchseed.errors import LookupFailure, RanksDiffer, RanksError
from ipytorchseed.foreign import ContentError, Format
from ipytorchseed.ranks.judging import Judgement, expectations
from ipytorchseed.ranks.looking import take
from ipytorchseed.ranks.records import Look, Rank
from ipytorchseed.ranks.report import RanksView
from ipytorchseed.rng.ranks import process_group


def compare(
    *,
    model: object = None,
    check: bool = False,
    expect: Mapping[str, str] | None = None,
    **named: object,
) -> RanksView:
    """Compare the sources, the settings and the named objects of all ranks.

    A collective call: every rank must make it.

    Args:
        model: The model, whose parameters and buffers are compared by name.
        check: Whether to raise if ranks are not as they should be.
        expect: ``"same"`` or ``"distinct"`` by the name of a source. A source that is distinct in
            all ranks is assumed to be so on purpose, unless ``"same"`` is expected, or one rank
            is only ahead of another in the same stream.
        named: Further objects to compare, by name: an optimizer, a loader, a generator.

    Returns:
        The same table in every rank; it prints itself and has ``to_json()``.

    Raises:
        RanksError: There is no process group, an expectation is invalid, or no rank has a source
            with an expectation.
        RanksDiffer: Only with ``check``: the first difference, in every rank alike.

    Example:
        >>> its.ranks.compare(model=model, optimizer=optimizer, check=True)
    """
    wanted = expectations(expect)
    gather = _gatherer()
    view = side_by_side(gather(take(model, named)), wanted)
    if check and view.findings:
        raise RanksDiffer("; ".join(map(str, view.findings)))
    return view


def side_by_side(
    looks: Iterable[tuple[Rank, Look]], expect: Mapping[str, str], notes: Sequence[str] = ()
) -> RanksView:
    """Return the table of single looks at several ranks, with ``notes`` below it."""
    ranks = {rank.rank: (rank, [look]) for rank, look in looks}
    return RanksView(Judgement(dict(sorted(ranks.items())), expect), notes)


def _gatherer() -> Any:  # a function that gathers an object from all ranks
    """Return the function that gathers an object from each rank."""
    group = process_group()
    if group is not None:

        def gather(mine: object) -> list[Any]:
            found: list[Any] = [None] * group.get_world_size()
            group.all_gather_object(found, mine)
            return found

        return gather
    accelerate: Any = sys.modules.get("accelerate")
    begun = accelerate is not None and accelerate.state.is_initialized()  # asking starts nothing
    if begun and accelerate.PartialState().num_processes > 1:
        return lambda mine: accelerate.utils.gather_object([mine])  # without a group: TPUs
    raise RanksError(
        "ranks are compared in a process group, and this process has none: call"
        " torch.distributed.init_process_group first, or start it by torchrun or accelerate"
    )


# The most missing ranks that are named.
_NAMED = 64

# Seconds by which a file's time may lag behind the clock that a rank reads.
_SLACK = 1.0

_FORMAT = Format(
    "rank's file",
    RanksError,
    "run the ranks again with its.ranks.watch(model)",
    size=1 << 31,
    named=False,
)
# The most bytes of a line.
_LONGEST = 1 << 26


def _read_records(path: Path) -> Iterator[Any]:
    """Yield the records of a rank's file: the rank, then its looks.

    Raises:
        RanksError: A line is no such record, or there is none.
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
        rank: Its first record.
        rest: Its other records.
        last: When it was last written, in seconds since the epoch.
        note: Why it could not be read to its end; empty if it could.
    """

    rank: Rank
    rest: Iterator[Look]
    last: float
    note: str = ""

    def looks(self) -> Iterator[Look]:
        """Yield its looks, up to a damaged line."""
        number = 1
        try:
            for number, look in enumerate(self.rest, 2):  # noqa: B007 -- for the note
                yield look
        except RanksError:
            self.note = f"rank {self.rank.rank}'s file is intact only up to line {number}"


def read(folder: str | os.PathLike[str], *, expect: Mapping[str, str] | None = None) -> RanksView:
    """Compare what the ranks wrote with ``its.ranks.watch``.

    The result names the rank that diverged first, the step, and what differs.

    Args:
        folder: The folder with the files.
        expect: ``"same"`` or ``"distinct"`` by the name of a source. Other sources that were
            equal in all ranks at the start are expected to stay equal. Nothing is expected of
            those that were distinct in all.

    Returns:
        A table, which prints itself, shows itself in a notebook and has ``to_json()``.

    Raises:
        LookupFailure: The folder does not exist, or no rank has written to it.
        RanksError: An expectation is neither ``"same"`` nor ``"distinct"``, or no rank has the
            source.
    """
    wanted = expectations(expect)
    found, unread = _files(Path(folder))
    files, notes = _of_one_launch(found)
    judgement = Judgement({each.rank.rank: (each.rank, each.looks()) for each in files}, wanted)
    notes += [*unread, *(each.note for each in files if each.note)]
    return RanksView(judgement, notes)


def _files(folder: Path) -> tuple[list[_File], list[str]]:
    """Return the files of a folder by rank, and notes on unreadable ones."""
    if not folder.is_dir():
        msg = f"there is no folder {folder}; call its.ranks.watch(model) in each rank"
        raise LookupFailure(msg)
    found, notes = [], []
    for path in folder.glob("rank-*.jsonl"):
        records = _read_records(path)
        try:
            found.append(_File(next(records), records, path.stat().st_mtime))
        except RanksError as error:
            notes.append(f"the file {path.name} was skipped: {error}")
    if not found:
        msg = f"no rank has written to {folder} yet; call its.ranks.watch(model) in each rank"
        raise LookupFailure(msg)
    return sorted(found, key=lambda each: each.rank.rank), notes


def _of_one_launch(files: list[_File]) -> tuple[list[_File], list[str]]:
    """Return the files of the last launch, and notes on earlier and missing ones."""
    newest = max(files, key=lambda each: each.rank.started)
    kept, notes = [], []
    for each in files:
        one, other = each.rank, newest.rank
        together = (one.world, one.launch) == (other.world, other.launch)
        if together and each.last + _SLACK >= other.started:
            kept.append(each)
        else:
            notes.append(f"rank {one.rank}'s file is from an earlier launch and was skipped")
    there = {each.rank.rank for each in kept}
    gone = (str(each) for each in range(newest.rank.world or 0) if each not in there)
    named = [*islice(gone, _NAMED + 1)]
    if named:
        more = " …" if len(named) > _NAMED else ""
        notes.append(f"there is no file from rank {', '.join(named[:_NAMED])}{more}")
    return kept, notes
