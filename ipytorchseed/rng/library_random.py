"""Random sources of numba, Keras, and libraries that can be seeded but not read.

The state of a seed generator of Keras is its seed and the number of draws.
https://keras.io/api/random/seed_generator/
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ipytorchseed.errors import StateError
from ipytorchseed.rng.mersenne import Twister
from ipytorchseed.rng.numpy_random import locate_legacy as locate
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import Kind, Library, Source

# The first fields of numba's state: words used, the words, whether a normal number is cached, and
# that number. Source: ``rnd_state_t`` in
# https://github.com/numba/numba/blob/main/numba/cpython/randomimpl.py
_STATE = struct.Struct("<i2496sid")

# numba's C extension with the states.
_HELPERS = "numba._helperlib"


def _address(which: str) -> int:
    """Return the address of this thread's state, of ``numpy.random`` or ``random``.

    Args:
        which: ``np`` or ``py``.
    """
    return int(getattr(sys.modules[_HELPERS], f"rnd_get_{which}_state_ptr")())


def _read(which: str) -> bytes:
    raw = ctypes.string_at(_address(which), _STATE.size)
    used, words, cached, normal = _STATE.unpack(raw)
    return Twister(words, used, normal if cached else None).pack()


def _write(which: str, state: bytes) -> None:
    found = Twister.unpack(state)
    cached = found.normal is not None
    raw = _STATE.pack(found.used, found.words, cached, found.normal or 0.0)
    ctypes.memmove(_address(which), raw, len(raw))


def _seed(which: str, value: int) -> None:
    sys.modules[_HELPERS].rnd_seed(_address(which), value)


_NUMBA = tuple(
    Source(name, partial(_seed, which), partial(_read, which), partial(_write, which), locate)
    for name, which in (("numba", "np"), ("numba.python", "py"))
)


def _seed_numba(value: int) -> None:
    for source in _NUMBA:
        source.seed(value)


_GLOBALS = "keras.src.backend.common.global_state"

# Names in the state of a thread in Keras, which ``keras.utils.set_random_seed`` sets.
_SEED, _GENERATOR = "global_random_seed", "global_seed_generator"

# The largest number in a state. The numbers have 32 bits, and are signed with torch.
_INT32 = 2**31 - 1


def _read_generator(generator: Any) -> bytes:
    numbers = sys.modules["keras"].ops.convert_to_numpy(generator.state.value)
    return json.dumps(numbers.tolist()).encode()


def _write_generator(generator: Any, state: bytes) -> None:
    """Restore a state of a generator.

    Raises:
        StateError: The bytes are not such a state.
    """
    numbers = _parse(state)
    if numbers is None:
        raise StateError(f"these {len(state)} bytes are not a valid state of a Keras SeedGenerator")
    generator.state.assign(numbers)


def locate_keras(state: bytes, hints: Sequence[int] = ()) -> Position:  # noqa: ARG001
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


KERAS = Kind(
    "keras.random.SeedGenerator", "keras.random", _read_generator, _write_generator,
    lambda it, value: it.state.assign([value & _INT32, 0]),
    lambda it, hints: locate_keras(_read_generator(it), hints),
)  # fmt: skip


def _held() -> dict[str, Any]:
    return sys.modules[_GLOBALS].GLOBAL_STATE_TRACKER.__dict__  # type: ignore[no-any-return]


# The prefix of states of ``keras.random``, so that their draws are not counted.
_PREFIX = b"keras"


def _read_keras() -> bytes:
    generator = _held().get(_GENERATOR)
    return _PREFIX if generator is None else _PREFIX + _read_generator(generator)


def _write_keras(state: bytes) -> None:
    held, numbers = _held(), state.removeprefix(_PREFIX)
    if state[: len(_PREFIX)] != _PREFIX:
        raise StateError(f"these {len(state)} bytes are not a valid state of keras.random")
    if not numbers:
        held[_GENERATOR] = None  # Keras creates it at the first draw
    else:
        if held.get(_GENERATOR) is None:
            held[_GENERATOR] = sys.modules["keras"].random.SeedGenerator(seed=0)
        _write_generator(held[_GENERATOR], numbers)


def _seed_keras(value: int) -> None:
    _held().update({_SEED: value, _GENERATOR: None})


_KERAS_SOURCE = Source("keras", _seed_keras, _read_keras, _write_keras)


def _seed_cupy(_: object, value: int) -> None:
    """Seed CuPy's generators, one per device.

    Devices without a generator get the seed from ``CUPY_SEED`` when they start. Calling
    ``cupy.random.seed`` instead would start CUDA. The state cannot be read:
    https://docs.nvidia.com/cuda/curand/host-api-overview.html
    """
    os.environ["CUPY_SEED"] = str(value)
    module = sys.modules.get("cupy.random._generator")
    for state in [*getattr(module, "_random_states", {}).values()]:
        state.seed(value)


# Libraries whose state cannot be read, each with a function that seeds it, given the module.
_SETTERS: dict[str, Callable[[Any, int], object]] = {
    "cupy": _seed_cupy,
    # One stream per thread. https://docs.opencv.org/4.x/d2/de8/group__core__array.html
    "cv2": lambda cv2, value: cv2.setRNGSeed(ctypes.c_int(value).value),
    # https://docs.dgl.ai/generated/dgl.seed.html
    "dgl": lambda dgl, value: dgl.seed(value),
    # https://www.open3d.org/docs/release/python_api/open3d.utility.random.html
    "open3d": lambda open3d, value: open3d.utility.random.seed(ctypes.c_int(value).value),
    # https://docs.pola.rs/api/python/stable/reference/api/polars.set_random_seed.html
    "polars": lambda polars, value: polars.set_random_seed(value),
    # https://www.tensorflow.org/api_docs/python/tf/random/set_seed
    "tensorflow": lambda tensorflow, value: tensorflow.random.set_seed(value),
}


def _unreadable(name: str) -> Library:
    def seed(value: int) -> None:
        _SETTERS[name](sys.modules[name], value)

    def write(_: bytes) -> None:
        raise StateError(f"the random stream of {name} can be seeded, but not restored")

    source = Source(name, seed, lambda: None, write)
    return Library(name, name, lambda: seed, lambda: (source,))


LIBRARIES: tuple[Library, ...] = (
    Library("numba", _HELPERS, lambda: _seed_numba, lambda: _NUMBA),
    Library("keras", _GLOBALS, lambda: _seed_keras, lambda: (_KERAS_SOURCE,)),
    *map(_unreadable, _SETTERS),
)
