"""``its.ranks.compare``: all ranks of a process group side by side, at one moment."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import RanksDiffer, RanksError
from ipytorchseed.ranks.judging import Judgement, expectations
from ipytorchseed.ranks.looking import take
from ipytorchseed.ranks.report import RanksView
from ipytorchseed.rng.ranks import process_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ipytorchseed.ranks.records import Look, Rank


def compare(
    *,
    model: object = None,
    check: bool = False,
    expect: Mapping[str, str] | None = None,
    **named: object,
) -> RanksView:
    """Hold the sources, the settings and what is named of all ranks against each other.

    A collective call: every rank must make it, as it gathers what all have to say.

    Args:
        model: The model, whose parameters and buffers are compared by name.
        check: Whether to raise where ranks are not as they should be.
        expect: ``"same"`` or ``"distinct"`` by the name of a source. A source that is distinct in
            all ranks is taken for meant so, unless ``"same"`` is expected.
        named: What else is compared, by name: an optimizer, a loader, a generator.

    Returns:
        The same table in every rank; it prints itself and has ``to_json()``.

    Raises:
        RanksError: There is no process group, or an expectation is none; nothing was gathered.
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
    """Return the table of single looks at several ranks; ``notes`` are said below it."""
    ranks = {rank.rank: (rank, [look]) for rank, look in looks}
    return RanksView(Judgement(dict(sorted(ranks.items())), expect), notes)


def _gatherer() -> Any:  # noqa: ANN401 -- a function from this rank's object to the list of all
    """Return what gathers an object of each rank."""
    group = process_group()
    if group is not None:

        def gather(mine: object) -> list[Any]:
            found: list[Any] = [None] * group.get_world_size()
            group.all_gather_object(found, mine)
            return found

        return gather
    accelerate: Any = sys.modules.get("accelerate")
    begun = accelerate is not None and accelerate.state.is_initialized()  # asking begins nothing
    if begun and accelerate.PartialState().num_processes > 1:
        return lambda mine: accelerate.utils.gather_object([mine])  # where torch has no group: TPUs
    msg = (
        "ranks are compared in a process group, and this process has none: call"
        " torch.distributed.init_process_group first, or start it by torchrun or accelerate"
    )
    raise RanksError(msg)
