"""Explains why the state of a source differs between ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ranks.callers import seeds, source_of
from ipytorchseed.ranks.looking import Look, Mark, Rank, Site
from ipytorchseed.rng.distance import draws_between, draws_to, locate_state, same_stream
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.why.words import first_of

# The differing ranks, the message, how many more numbers they drew, and the line that drew.
Explanation = tuple[list[int], str, int | None, Site | None]

# The maximum number of draws that are counted, which takes about 0.1 s.
_BOUND = 20_000_000

# A rank may be ahead of another by at most this many draws. The search takes milliseconds.
_CLOSE = 1_000_000

# The maximum number of ranks that are compared with the first rank in this search.
_MOST_RANKS = 3

# The maximum number of lines that are named. Further lines are only counted.
_NAMED = 2

# Words for the parts of torch that draw for the user.
_SHOWN = {
    "DataLoader": "a DataLoader's base seed",
    "DataLoader's sampler": "a DataLoader's sampler",
}


class Track(Struct):
    """The state of a rank after a step, from its looks so far.

    Attributes:
        rank: The rank.
        looks: The looks after ``pending``.
        pending: The next look; None at the end.
        step: The step of the last look that was applied.
        marks: The short states of all sources.
        states: The last two recorded full states of each source, with their steps.
        sites: The lines that drew in the last step, with the number of calls.
        values: As in ``Look``.
        settings: As in ``Look``.
        looked: The last step with values.
    """

    rank: Rank
    looks: Iterator[Look]
    pending: Look | None = None
    step: int = -1
    marks: dict[str, Mark] = {}
    states: dict[str, list[tuple[int, bytes]]] = {}
    sites: dict[Site, int] = {}
    values: dict[str, dict[str, str]] = {}
    settings: dict[str, Any] = {}
    looked: int = -1

    def advance(self) -> None:
        """Apply the pending look, and read the next one."""
        look = self.pending
        if look is not None:
            self.step = look.step
            self.marks = {**self.marks, **look.marks}
            for name, state in look.states.items():
                self.states[name] = [*self.states.get(name, [])[-1:], (look.step, state)]
            if look.sites is not None:
                self.sites = dict(look.sites)
            if look.values is not None:
                self.values, self.looked = look.values, look.step
            self.settings = look.settings or self.settings
        self.pending = next(self.looks, None)

    def origin(self, name: str, before: int) -> bytes | None:
        """Return the last full state of a source recorded before a step, or None."""
        earlier = [state for step, state in self.states.get(name, []) if step < before]
        return earlier[-1] if earlier else None


def explain(
    name: str, step: int, tracks: Mapping[int, Track], groups: Sequence[list[int]], *, begun: bool
) -> Explanation:
    """Explain why ranks differ in the state of a source.

    Args:
        name: The source.
        step: The first step at which the ranks differ.
        tracks: The ranks at this step, by number.
        groups: Lists of ranks with equal states, the largest group first.
        begun: Whether all ranks were equal before.

    Returns:
        See ``Explanation``. An unknown number or line is None.
    """
    if not begun:
        return _from_start(name, tracks, groups)
    main, odd = groups[0], groups[1]
    one, other = (_draws(name, tracks[group[0]], step) for group in (odd, main))
    # Of two ranks, name the one that drew more.
    if len(main) == len(odd) and other is not None and (one is None or one < other):
        main, odd, one, other = odd, main, other, one
    drew = one - other if one is not None and other is not None else None
    sites = _sites(name, tracks[odd[0]], tracks[main[0]], drew)
    others = "the others" if sum(map(len, groups)) - len(odd) > 1 else list_ranks(main)
    who = list_ranks(odd)
    verb = "set {} to" if sites and seeds(sites[0]) else "left {} in"
    message = f"{who} {verb.format(name)} a different state than {others}"
    if drew:
        message = _more(who, others, name, drew)
    if sites:
        message += f": {first_of([*map(describe, sites)], _NAMED, ' and ')}"
    return odd, message, drew, sites[0] if sites else None


def seeded(name: str, tracks: Mapping[int, Track]) -> bool:
    """Return whether every rank seeded a source, or set its state, in the last step."""
    sites = [[each for each in track.sites if seeds(each)] for track in tracks.values()]
    return all(any(source_of(each.what, name) for each in seeding) for seeding in sites)


def in_one_stream(name: str, tracks: Mapping[int, Track]) -> bool:
    """Return whether a differing rank is only ahead of another in the same stream."""
    states = [kept[-1][1] for each in tracks.values() if (kept := each.states.get(name))]
    return any(same_stream(states[0], each, _CLOSE) for each in states[1 : _MOST_RANKS + 1])


def describe(site: Site) -> str:
    """Describe which function drew, and on which line."""
    return str(replace(site, what=_SHOWN.get(site.what, site.what)))


def _from_start(name: str, tracks: Mapping[int, Track], groups: Sequence[list[int]]) -> Explanation:
    """Explain a source that was never equal in all ranks."""
    clear = len(groups[0]) > len(groups[1])
    odd = [number for group in groups[clear:] for number in group]
    if len(groups) == len(tracks) > 2:  # noqa: PLR2004 -- no two are alike
        return odd, f"{name} differs in each rank", None, None
    drew = _ahead(name, tracks[groups[0][0]], tracks[groups[1][0]])
    if drew:
        return odd, _more(list_ranks(groups[1]), list_ranks(groups[0]), name, drew), drew, None
    stands = [f"{list_ranks(each)} at {_where(name, tracks[each[0]])}" for each in groups[::-1]]
    return odd, f"{name} is not the same: {', '.join(stands)}", None, None


def _more(who: str, others: str, name: str, drew: int) -> str:
    numbers = "number" if abs(drew) == 1 else "numbers"
    more = f"{abs(drew):,} {'more' if drew > 0 else 'fewer'} {numbers}"
    return f"{who} drew {more} from {name} than {others}"


def _ahead(name: str, one: Track, other: Track) -> int | None:
    """Count the draws by which ``other`` is ahead of ``one``; None if unknown."""
    if not one.states.get(name) or not other.states.get(name):
        return None
    states = one.states[name][-1][1], other.states[name][-1][1]
    more, fewer = draws_between(*states, _CLOSE), draws_between(*states[::-1], _CLOSE)
    return more if more is not None or fewer is None else -fewer


def _where(name: str, track: Track) -> str:
    kept = track.states.get(name)
    place = locate_state(kept[-1][1]) if kept else UNKNOWN
    return track.marks[name].digest[:8] if place.seed is None else str(place)


def _draws(name: str, track: Track, step: int) -> int | None:
    """Count the draws since the last recorded full state; None if unknown."""
    origin, place = track.origin(name, step), track.marks[name].position
    return None if origin is None or place is None else draws_to(origin, place, _BOUND)


def _sites(name: str, odd: Track, main: Track, drew: int | None) -> list[Site]:
    """Return the lines that made more calls in one rank; else the only line that drew.

    Args:
        name: The source.
        odd: The rank that differs.
        main: A rank of the largest group.
        drew: How many more numbers the differing rank drew; None if unknown.
    """
    pairs = [(odd.sites, main.sites), (main.sites, odd.sites)]
    for one, other in pairs[1:] if drew is not None and drew < 0 else pairs[: 1 if drew else 2]:
        more = (site for site, count in one.items() if count > other.get(site, 0))
        found = [site for site in more if source_of(site.what, name)]
        if found:
            return [each for each in found if seeds(each) == (drew is None)] or found
    drawing = [each for each in odd.sites if source_of(each.what, name)]
    return drawing if len(drawing) == 1 and drew else []


def list_ranks(numbers: Sequence[int]) -> str:
    """List ranks in words: ``rank 2``, ``ranks 0 and 3``, ``ranks 1 to 3``."""
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:  # noqa: PLR2004
        return f"ranks {numbers[0]} to {numbers[-1]}"
    return f"ranks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
