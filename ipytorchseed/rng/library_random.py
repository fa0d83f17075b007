"""Random sources of numba, and of libraries that can be seeded but not read."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ipytorchseed.errors import StateError
from ipytorchseed.rng import keras_random
from ipytorchseed.rng.mersenne import Twister, locate
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.source import Library, Source

# The first fields of numba's state: words used, the words, whether a normal number is cached, and
# that number. Source: ``rnd_state_t`` in
# https://github.com/numba/numba/blob/main/numba/cpython/randomimpl.py
_STATE = struct.Struct("<i2496sid")


def _helpers() -> Any:  # a C extension
    return sys.modules["numba._helperlib"]


def _address(which: str) -> int:
    """Return the address of this thread's state, of ``numpy.random`` or ``random``.

    Args:
        which: ``np`` or ``py``.
    """
    return int(getattr(_helpers(), f"rnd_get_{which}_state_ptr")())


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
    _helpers().rnd_seed(_address(which), value)


def _locate(state: bytes, hints: Sequence[int]) -> Position:
    return locate(Twister.unpack(state), "knuth", tuple(hints))


_NUMBA = tuple(
    Source(name, partial(_seed, which), partial(_read, which), partial(_write, which), _locate)
    for name, which in (("numba", "np"), ("numba.python", "py"))
)


def _seed_numba(value: int) -> None:
    for source in _NUMBA:
        source.seed(value)


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
    Library("numba", "numba._helperlib", lambda: _seed_numba, lambda: _NUMBA),
    keras_random.LIBRARY,
    *map(_unreadable, _SETTERS),
)
