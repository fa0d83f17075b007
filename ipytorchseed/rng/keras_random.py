"""Keras: the global generator of ``keras.random``, and seed generators of layers.

The state of a seed generator is its seed and the number of draws.
https://keras.io/api/random/seed_generator/
"""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ipytorchseed.errors import StateError
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import Kind, Library, Source

_GLOBALS = "keras.src.backend.common.global_state"

# Names in the state of a thread in Keras, which ``keras.utils.set_random_seed`` sets.
_SEED, _GENERATOR = "global_random_seed", "global_seed_generator"

# The largest number in a state. The numbers have 32 bits, and are signed with torch.
_INT32 = 2**31 - 1


# The tensor that was read last, its version with torch, and the state. Reading is slow.
_last: tuple[Callable[[], Any], int, bytes] = (lambda: None), 0, b""


def _read_generator(generator: Any) -> bytes:
    global _last  # noqa: PLW0603 -- a cache of the process
    tensor = generator.state.value
    if hasattr(tensor, "assign"):  # of TensorFlow, which has no version
        return _numbers_in(tensor)
    version = getattr(tensor, "_version", 0)  # of JAX: tensors are immutable
    if tensor is not _last[0]() or version != _last[1]:
        _last = weakref.ref(tensor), version, _numbers_in(tensor)
    return _last[2]


def _numbers_in(tensor: Any) -> bytes:
    return json.dumps(sys.modules["keras"].ops.convert_to_numpy(tensor).tolist()).encode()


def _write_generator(generator: Any, state: bytes) -> None:
    """Restore a state of a generator.

    Raises:
        StateError: The bytes are not such a state.
    """
    numbers = _parse(state)
    if numbers is None:
        raise StateError(f"these {len(state)} bytes are no state of a seed generator of Keras")
    generator.state.assign(numbers)


def locate(state: bytes, hints: Sequence[int] = ()) -> Position:  # noqa: ARG001
    """Return the seed and draws of a state, or ``UNKNOWN`` for other states."""
    found = _parse(state)
    return UNKNOWN if found is None else Position(found[0], found[1])


def _parse(state: bytes) -> list[int] | None:
    """Return the two numbers of a state, or None for other states."""
    try:
        found = json.loads(state)
    except ValueError:
        return None
    is_state = isinstance(found, list) and [*map(type, found)] == [int, int]
    return found if is_state else None


KIND = Kind(
    "keras.random.SeedGenerator", "keras.random", _read_generator, _write_generator,
    lambda it, value: it.state.assign([value & _INT32, 0]),
    lambda it, hints: locate(_read_generator(it), hints),
)  # fmt: skip


def _held() -> dict[str, Any]:
    return sys.modules[_GLOBALS].GLOBAL_STATE_TRACKER.__dict__  # type: ignore[no-any-return]


# The prefix of states of ``keras.random``, so that their draws are not counted.
_PREFIX = b"keras"


def _read() -> bytes:
    generator = _held().get(_GENERATOR)
    return _PREFIX if generator is None else _PREFIX + _read_generator(generator)


def _write(state: bytes) -> None:
    held, numbers = _held(), state.removeprefix(_PREFIX)
    if state[: len(_PREFIX)] != _PREFIX:
        raise StateError(f"these {len(state)} bytes are no state of keras.random")
    if not numbers:
        held[_GENERATOR] = None  # Keras creates it at the first draw
    else:
        if held.get(_GENERATOR) is None:
            held[_GENERATOR] = sys.modules["keras"].random.SeedGenerator(seed=0)
        _write_generator(held[_GENERATOR], numbers)


def _seed(value: int) -> None:
    _held().update({_SEED: value, _GENERATOR: None})


_SOURCE = Source("keras", _seed, _read, _write)

LIBRARY = Library("keras", _GLOBALS, lambda: _seed, lambda: (_SOURCE,))
