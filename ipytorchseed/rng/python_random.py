"""Python's ``random``: the module's hidden generator, and the user's generators."""

from __future__ import annotations

import _random
import random
from array import array
from functools import partial

from ipytorchseed.rng import mersenne
from ipytorchseed.rng.source import Kind, Library, Locate

_VERSION = 3  # the first item of the tuple for `random.setstate`


def hidden() -> random.Random:
    """Return the generator behind the functions of the module ``random``."""
    return random._inst  # noqa: SLF001


# Returns the attributes of a generator without calling methods of a subclass.
_attributes = vars(random.Random)["__dict__"].__get__


def read(generator: random.Random) -> bytes:
    """Return the state of ``generator`` in the format of ``mersenne.Twister.pack``.

    Methods that a subclass overrides are not called.
    """
    state = array("I", _random.Random.getstate(generator))
    index = state.pop()
    normal = _attributes(generator).get("gauss_next")
    return mersenne.Twister(state.tobytes(), index, normal).pack()


def write(generator: random.Random, state: bytes) -> None:
    """Restore a state that ``read`` returned."""
    found = mersenne.Twister.unpack(state)
    internal = (*array("I", found.words), found.used)
    random.Random.setstate(generator, (_VERSION, internal, found.normal))


# Finds the seed and draws of a state that ``read`` returned.
locate: Locate = partial(mersenne.locate, "array")

KIND = Kind("random.Random", "random", read, write, random.Random.seed,
    lambda it, hints: locate(read(it), hints))  # fmt: skip

_SOURCE = KIND.source("python", hidden, locate)

LIBRARY = Library("python", "random", lambda: hidden().seed, lambda: (_SOURCE,), essential=True)
