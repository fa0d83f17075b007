"""Explains why a source has another state in one rank than in the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipytorchseed.ranks.callers import seeds, source_of
from ipytorchseed.ranks.records import Site, Track
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.why.words import first_of

# The ranks that differ, the sentence, the extra draws, and the line that drew.
Explanation = tuple[list[int], str, int | None, Site | None]

# The most draws to search for two ranks in one stream, which takes milliseconds.
_CLOSE = 1_000_000

# The most ranks that are compared with the first one in this search.
_HELD = 3

# The most lines that are named; for more, only their number is given.
_NAMED = 2

# Parts of torch that draw for the user, in words.
_SHOWN = {
    "DataLoader": "a DataLoader's base seed",
    "DataLoader's sampler": "a DataLoader's sampler",
}


def explain(name: str, tracks: Mapping[int, Track], groups: Sequence[list[int]]) -> Explanation:
    """Explain which ranks differ in a source, and what drew.

    Args:
        name: The source.
        tracks: The ranks, at the step at which they first differ.
        groups: The ranks with equal states, the largest group first.

    Returns:
        See ``Explanation``; None for an unknown number or line.
    """
    clear = len(groups[0]) > len(groups[1])
    odd = [number for group in groups[clear:] for number in group]
    if len(groups) == len(tracks) > 2:  # noqa: PLR2004 -- no two are alike
        return odd, f"{name} differs in each rank", None, None
    found = []
    for group, than in [(groups[1], groups[0]), (groups[0], groups[1])][: 1 if clear else 2]:
        pair = tracks[group[0]], tracks[than[0]]
        drew = _ahead(name, *pair)
        found.append((group, than, drew, _sites(name, *pair, drew)))
    # of two that are as many, the one that drew more
    group, than, drew, sites = next((it for it in found if (it[2] or 0) > 0 or it[3]), found[0])
    others = "the others" if len(tracks) - len(group) > 1 else list_ranks(than)
    who = list_ranks(group)
    if drew:
        many = "one number" if abs(drew) == 1 else f"{abs(drew):,} numbers"
        message = f"{who} drew {many} {'more' if drew > 0 else 'fewer'} than {others} from {name}"
    elif sites and seeds(sites[0]):
        message = f"{who} set {name} to another state than {others}"
    elif sites:
        message = f"{who} drew more than {others} from {name}"
    else:
        message = f"{who} left {name} in a different state than {others}"
    if sites:
        message += f": {first_of([*map(describe, sites)], _NAMED, ' and ')}"
    return odd, message, drew, sites[0] if sites else None


def seeded(name: str, tracks: Mapping[int, Track]) -> bool:
    """Return whether every rank seeded a source, or set its state, in this step."""
    return all(
        any(seeds(each) and source_of(each.what, name) for each in track.sites)
        for track in tracks.values()
    )


def are_in_one_stream(name: str, tracks: Mapping[int, Track]) -> bool:
    """Return whether differing ranks are in one stream, one ahead of another."""
    first, *others = tracks.values()
    return any(_ahead(name, first, each) is not None for each in others[:_HELD])


def describe(site: Site) -> str:
    """Describe what drew, and on which line."""
    what, rest = site.what, str(site).removeprefix(site.what)
    return f"{_SHOWN.get(what, what)}{rest}"


def _ahead(name: str, one: Track, other: Track) -> int | None:
    """Count the draws by which ``one`` is ahead of ``other``; None if unknown."""
    states = one.states.get(name), other.states.get(name)
    if states[0] is None or states[1] is None:
        return None
    more = draws_between(states[1], states[0], _CLOSE)
    fewer = draws_between(states[0], states[1], _CLOSE) if more is None else None
    return more if fewer is None else -fewer


def _sites(name: str, odd: Track, main: Track, drew: int | None) -> list[Site]:
    """Return the lines of calls that only one rank made, or made more often."""
    more, fewer = (main, odd) if drew is not None and drew < 0 else (odd, main)
    found = [
        site
        for site, count in more.sites.items()
        if count > fewer.sites.get(site, 0) and source_of(site.what, name)
    ]
    return [each for each in found if seeds(each) == (drew is None)] or found


def list_ranks(numbers: Sequence[int]) -> str:
    """List ranks in words: ``rank 2``, ``ranks 0 and 3``, ``ranks 1 to 3``."""
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:  # noqa: PLR2004
        return f"ranks {numbers[0]} to {numbers[-1]}"
    return f"ranks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
