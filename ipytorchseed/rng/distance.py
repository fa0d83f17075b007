"""Counts the draws between two recorded states of a generator."""

from __future__ import annotations

from ipytorchseed.errors import StateError
from ipytorchseed.rng import library_random, mersenne, numpy_random, torch_random
from ipytorchseed.rng.position import Position

# The default number of draws to try, which takes about 20 ms.
NEAR = 5_000_000


_SIZES = frozenset({mersenne.SIZE, *torch_random.SIZES})


def draws_between(before: bytes, after: bytes, bound: int = NEAR) -> int | None:
    """Count the draws between two states of the same generator.

    Args:
        before: A full state, as returned by any of our ``read`` functions.
        after: A later full state.
        bound: The maximum number of draws to try, for a Mersenne Twister.

    Returns:
        The number of draws, or None if ``after`` cannot be reached or is too far away.
    """
    if _is_json(before) and _is_json(after):
        try:
            return numpy_random.draws_between(before, after)
        except StateError:  # of a registered source
            return None
    first, last = _twister(before), _twister(after)
    if first is not None and last is not None:
        return mersenne.distance(first, last, bound)
    begin, end = _counted(before), _counted(after)
    if begin.draws is None or end.draws is None or begin.seed != end.seed:
        return None
    return end.draws - begin.draws if end.draws >= begin.draws else None


def _counted(state: bytes) -> Position:
    """Return the position of a generator whose state contains its seed and draws."""
    of_torch = len(state) in _SIZES
    return torch_random.locate(state, ()) if of_torch else library_random.locate_keras(state)


def same_stream(one: bytes, other: bytes, bound: int) -> bool:
    """Return whether either state can be reached from the other by drawing.

    Args:
        one: A full state.
        other: A full state.
        bound: The maximum number of draws to try.
    """
    if {len(one), len(other)} <= {*torch_random.SIZES}:
        return one[:8] == other[:8]  # the seed
    return any(draws_between(*pair, bound) is not None for pair in ((one, other), (other, one)))


def mark_of(state: bytes) -> tuple[str, int] | None:
    """Return a short identifier of a state, from which draws can be counted.

    Returns:
        16 hex digits (the first words of a Mersenne Twister, or the seed of a device's generator),
        and the numbers drawn since then. None for other states.
    """
    twister = None if _is_json(state) else _twister(state)
    if twister is not None:
        return twister.words[:8].hex(), twister.used
    place = torch_random.locate(state, ())  # of a device
    return None if place.draws is None else (state[:8].hex(), place.draws)


def draws_to(before: bytes, mark: tuple[str, int], bound: int) -> int | None:
    """Count the draws from a state to a later state.

    Args:
        before: A full state.
        mark: The ``mark_of`` the later state.
        bound: The maximum number of draws to try, for a Mersenne Twister.

    Returns:
        The number of draws, or None if unknown.
    """
    twister = _twister(before)
    if twister is not None:
        return mersenne.distance(twister, mersenne.Twister(bytes.fromhex(mark[0]), mark[1]), bound)
    begin = mark_of(before)
    return mark[1] - begin[1] if begin and mark[0] == begin[0] and mark[1] >= begin[1] else None


def is_fresh(state: bytes) -> bool | None:
    """Return whether a generator was seeded and not drawn from since.

    After a multiple of 624 draws, the result is True too. It is also True after 623 draws, because
    numpy starts at that position if it takes a seed from the system.

    Returns:
        None if it is unknown.
    """
    twister = _twister(state)
    return None if twister is None else twister.used in {mersenne.N - 1, mersenne.N}


def is_of_ours(state: bytes) -> bool:
    """Return whether draws can be counted for states of this format."""
    return len(state) in _SIZES or _is_json(state)


def locate_state(state: bytes) -> Position:
    """Find the seed and draws of a state of an unknown generator."""
    if len(state) != mersenne.SIZE:
        return _counted(state)
    placed = mersenne.locate("knuth", state)
    return placed if placed.draws is not None else mersenne.locate("array", state)


def _is_json(state: bytes) -> bool:
    """Return whether a state is that of a numpy ``Generator``.

    States with one of the known sizes are excluded, because they may begin with any byte.
    """
    return state[:2] == b'{"' and len(state) not in _SIZES


def _twister(state: bytes) -> mersenne.Twister | None:
    if len(state) == mersenne.SIZE:
        return mersenne.Twister.unpack(state)
    return torch_random.twister(state)
