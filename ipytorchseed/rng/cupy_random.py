"""CuPy's global generators, one per device, if CuPy is imported.

They can be seeded, but not read: cuRAND's host interface cannot return a generator's state
(https://docs.nvidia.com/cuda/curand/host-api-overview.html). Their digest is shown as unknown.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ipytorchseed.errors import StateError
from ipytorchseed.rng.source import Library, Source


def _states() -> dict[int, Any]:
    """Return the ``RandomState`` of each device that has one."""
    module = sys.modules.get("cupy.random._generator")
    return getattr(module, "_random_states", {})


def _unwritable(state: bytes) -> None:  # noqa: ARG001
    raise StateError("CuPy's generators can be seeded, but cuRAND has no way to put a state back")


def _source(index: int) -> Source:
    return Source(
        name=f"cupy:{index}", seed=_states()[index].seed, read=lambda: None, write=_unwritable
    )


def _sources() -> list[Source]:
    return [_source(index) for index in sorted(_states())]


def _seed(value: int) -> None:
    """Seed every device.

    Devices without a generator get the seed when they start: CuPy then reads ``CUPY_SEED``.
    Calling ``cupy.random.seed`` would start CUDA.
    """
    os.environ["CUPY_SEED"] = str(value)
    for source in _sources():
        source.seed(value)


LIBRARY = Library(name="cupy", module="cupy", seeder=lambda: _seed, sources=_sources)
