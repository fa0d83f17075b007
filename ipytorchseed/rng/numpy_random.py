"""numpy's legacy global generator, ``RandomState`` and ``Generator`` objects.

Draws are counted by arithmetic on states: the raw 64-bit numbers between two states. PCG64 is a
linear congruential generator, for which this is a discrete logarithm (O'Neill 2014,
HMC-CS-2014-0905, section 4.3.1). Philox is a counter, and SFC64 contains one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import StateError
from ipytorchseed.rng import mersenne
from ipytorchseed.rng.position import BOUND, UNKNOWN, Position
from ipytorchseed.rng.source import Kind, Library, Locate

if TYPE_CHECKING:
    from numpy.random import BitGenerator, Generator, RandomState

MODULE = "numpy.random.mtrand"


def hidden() -> RandomState:
    """Return the generator behind the functions of ``numpy.random``."""
    from numpy.random import mtrand

    return mtrand._rand  # noqa: SLF001


def engine(generator: Any) -> BitGenerator:  # RandomState or Generator
    """Return the bit generator of a ``RandomState`` or ``Generator``.

    Methods that a subclass overrides are not called, here and in the whole module.
    """
    from numpy.random import Generator, RandomState

    owner: Any = Generator if issubclass(type(generator), Generator) else RandomState
    return owner._bit_generator.__get__(generator)  # type: ignore[no-any-return]  # noqa: SLF001


def _is_legacy(generator: Any) -> bool:
    from numpy.random import RandomState

    return issubclass(type(generator), RandomState)


def _get(generator: Any) -> Any:
    """Return the state of a generator as numpy writes it."""
    from numpy.random import RandomState

    if _is_legacy(generator):
        return RandomState.get_state(generator, legacy=False)
    return engine(generator).state


def _set(generator: Any, document: Any) -> None:
    from numpy.random import RandomState

    if _is_legacy(generator):
        RandomState.set_state(generator, document)
    else:
        engine(generator).state = document


def read(generator: RandomState | Generator) -> bytes:
    """Return the state of a generator, including its cached normal number.

    Returns:
        The result of ``mersenne.Twister.pack`` for a ``RandomState`` on MT19937, else JSON.
    """
    with engine(generator).lock:  # threads acquire it to draw
        now = _get(generator)
    if now["bit_generator"] != "MT19937" or "has_gauss" not in now:
        return json.dumps(now, sort_keys=True, default=lambda value: value.tolist()).encode()
    normal = now["gauss"] if now["has_gauss"] else None
    return mersenne.Twister(now["state"]["key"].tobytes(), now["state"]["pos"], normal).pack()


def write(generator: RandomState | Generator, state: bytes) -> None:
    """Restore a state that ``read`` returned; if numpy rejects it, change nothing.

    Raises:
        StateError: The state is damaged, or is that of another bit generator.
    """
    document, before = _parse(state), _get(generator)
    mine, other = before["bit_generator"], document.get("bit_generator")
    if mine != other:
        raise StateError(f"this state is of numpy's {other}, but the generator now runs on {mine}")
    try:
        _set(generator, document)
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        _set(generator, before)
        msg = f"numpy refuses this state of {mine}: {type(error).__name__}: {error}"
        raise StateError(msg) from error


def seed(generator: Any, value: int) -> None:
    """Set a generator to the state of a new one with the seed ``value``."""
    from numpy.random import MT19937, RandomState, SeedSequence

    kind = type(engine(generator))
    if kind is MT19937 and _is_legacy(generator):
        RandomState.seed(generator, value)
    else:
        begin = kind(SeedSequence(value)).state
        _set(generator, {**begin, "has_gauss": 0, "gauss": 0.0})


# Finds the seed and draws of a state of a ``RandomState``.
locate_legacy: Locate = partial(mersenne.locate, "knuth")


def draws_between(before: bytes, after: bytes) -> int | None:
    """Count the raw draws between two states of ``Generator`` objects."""
    import numpy as np

    first, last = _parse(before), _parse(after)
    kind = getattr(np.random, str(first.get("bit_generator")), None)
    if kind is None or first["bit_generator"] != last.get("bit_generator"):
        return None
    origin = kind(0)
    origin.state = first
    return count_draws(origin, last)


def _parse(state: bytes) -> dict[str, Any]:
    """Return a state as numpy writes it.

    Raises:
        StateError: The bytes are not a state of a numpy generator.
    """
    import numpy as np

    if len(state) == mersenne.SIZE:
        found = mersenne.Twister.unpack(state)
        return {
            "bit_generator": "MT19937",
            "state": {"key": np.frombuffer(found.words, dtype=np.uint32), "pos": found.used},
            "has_gauss": int(found.normal is not None),
            "gauss": found.normal or 0.0,
        }
    try:
        document = json.loads(state)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise StateError(f"these {len(state)} bytes are not a valid state of a numpy generator")
    return document


# If the entropy of a SeedSequence is at least this large, it is from the system, not a typed seed.
_LARGEST_SEED = 2**63

_PCG64_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_DXSM_FACTOR = 0xDA942042E4DD58B5
_MASK128 = 2**128 - 1


def locate_engine(engine: BitGenerator, hints: Iterable[int] = ()) -> Position:
    """Find the seed of a numpy bit generator, and its raw draws since.

    Args:
        engine: The bit generator, which does not advance.
        hints: Seeds that may have been used after its creation, likeliest first.
    """
    import numpy as np

    kind = type(engine)
    if kind.__name__ not in _COUNT or not kind.__module__.startswith("numpy.random."):
        return UNKNOWN
    now: Any = engine.state
    sequences: list[Any] = [(hint, np.random.SeedSequence(hint)) for hint in hints]
    born = getattr(engine, "seed_seq", None)
    if isinstance(born, np.random.SeedSequence):
        sequences.append((_typed_seed(born), born))
    for seed, sequence in sequences:
        draws = count_draws(kind(sequence), now)
        if draws is not None:
            return Position(seed, draws)
    return Position(beyond=bool(sequences))


def count_draws(origin: BitGenerator, now: Any) -> int | None:  # now: what `state` returns
    """Count the raw draws between the states of two bit generators of the same type.

    Args:
        origin: A bit generator in the first state. It may be advanced.
        now: The second state, as the property ``state`` returns it.

    Returns:
        The number of draws, or None if it is unknown or too large.
    """
    step = _COUNT.get(type(origin).__name__)
    draws = None if step is None else step(origin, now)
    return draws if draws is not None and draws <= BOUND else None


def _typed_seed(sequence: Any) -> int | None:  # SeedSequence
    import numpy as np

    entropy = sequence.entropy
    typed = isinstance(entropy, (int, np.integer)) and not sequence.spawn_key
    return int(entropy) if typed and entropy < _LARGEST_SEED else None


def _lcg(origin: Any, now: Any, factor: int) -> int | None:
    begin, add = origin.state["state"]["state"], origin.state["state"]["inc"]
    end = now["state"]["state"]
    if now["state"]["inc"] != add:
        return None
    bit, draws = 1, 0
    while begin != end:
        if (begin ^ end) & bit:
            begin = (begin * factor + add) & _MASK128
            draws |= bit
        bit <<= 1
        add = ((factor + 1) * add) & _MASK128
        factor = (factor * factor) & _MASK128
    return draws


def _philox(origin: Any, now: Any) -> int | None:
    begin = origin.state

    def given(state: Any) -> int:
        words = [int(word) for word in state["state"]["counter"]]
        counter = sum(word << (64 * i) for i, word in enumerate(words))
        return 4 * counter + int(state["buffer_pos"])

    if [*begin["state"]["key"]] != [*now["state"]["key"]]:
        return None
    draws: int = given(now) - given(begin)
    return draws if draws >= 0 else None


def _sfc64(origin: Any, now: Any) -> int | None:
    begin = [int(word) for word in origin.state["state"]["state"]]
    end = [int(word) for word in now["state"]["state"]]
    draws = end[3] - begin[3]
    if not 0 <= draws <= BOUND:
        return None
    origin.random_raw(draws, output=False)  # generators with other seeds have the same counter
    return draws if [int(word) for word in origin.state["state"]["state"]] == end else None


def _mt19937(origin: Any, now: Any) -> int | None:
    def twister() -> mersenne.Twister:
        held = origin.state["state"]
        return mersenne.Twister(held["key"].tobytes(), int(held["pos"]))

    begin, origin.state = twister(), now
    return mersenne.distance(begin, twister())


_COUNT: dict[str, Callable[[Any, Any], int | None]] = {
    "MT19937": _mt19937,
    "PCG64": partial(_lcg, factor=_PCG64_FACTOR),
    "PCG64DXSM": partial(_lcg, factor=_DXSM_FACTOR),
    "Philox": _philox,
    "SFC64": _sfc64,
}


LEGACY = Kind("numpy.random.RandomState", "numpy.random", read, write, seed,
    lambda it, hints: locate_legacy(read(it), hints))  # fmt: skip

KIND = Kind("numpy.random.Generator", "numpy.random", read, write, seed,
    lambda it, hints: locate_engine(engine(it), hints))  # fmt: skip

_SOURCE = LEGACY.source("numpy", hidden, locate_legacy)

LIBRARY = Library("numpy", MODULE, lambda: _SOURCE.seed, lambda: (_SOURCE,), essential=True)
