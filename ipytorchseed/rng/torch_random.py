"""torch's generators: the default generator of each device, and the user's."""

from __future__ import annotations

import ctypes
import re
import struct
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from itertools import starmap
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.errors import StateError, in_brief
from ipytorchseed.introspection.loaders import find_after, wrap_loader
from ipytorchseed.rng import mersenne
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.source import Kind, Library, Source

if TYPE_CHECKING:
    from torch import Generator

_CPU_SIZE = 5056  # CPUGeneratorImplState, aten/src/ATen/CPUGeneratorImpl.cpp
_CPU_HEAD = struct.Struct("<QiiQ4992s")  # seed, words left, is seeded, next, 624 words as uint64
_PHILOX = struct.Struct("<QQ")  # seed and offset, aten/src/ATen/cuda/CUDAGeneratorImpl.cpp
# The sizes of a state on the CPU and on other devices.
SIZES = (_CPU_SIZE, _PHILOX.size)
_LAZY = ("cuda", "xpu")  # device types that start at first use


def read(generator: Generator) -> bytes:
    """Return the full state of ``generator`` in torch's format.

    Methods that a subclass overrides and torch's dispatch modes are not called.
    """
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- as torch.overrides does
        state = torch.Generator.get_state(generator)
        return ctypes.string_at(state.data_ptr(), state.numel())  # not an operation of torch


def write(generator: Generator, state: bytes) -> None:
    """Restore a state that ``read`` returned.

    Raises:
        StateError: torch rejects the bytes, for example because they are from another device type.
    """
    import torch

    try:
        given = torch.frombuffer(bytearray(state), dtype=torch.uint8)
        torch.Generator.set_state(generator, given)
    except (RuntimeError, TypeError, ValueError) as error:
        msg = f"torch refuses these {len(state)} bytes as a state on {generator.device}: {error}"
        raise StateError(msg) from error


def seed(generator: Generator, value: int) -> None:
    """Seed ``generator``."""
    import torch

    torch.Generator.manual_seed(generator, value)


def locate(state: bytes, hints: Sequence[int]) -> Position:  # noqa: ARG001 -- the state has it
    """Find the seed and draws of a state.

    On the CPU, the draws are 32-bit numbers of the Mersenne Twister. On CUDA and XPU, they are the
    Philox offset, which counts the numbers reserved for each thread of a kernel.
    """
    if len(state) == _PHILOX.size:
        return Position(*_PHILOX.unpack(state))
    if len(state) != _CPU_SIZE:
        return UNKNOWN
    return _locate_cpu(state)


@lru_cache(maxsize=64)
def _locate_cpu(state: bytes) -> Position:
    begin, now = _CPU_HEAD.unpack_from(state)[0], twister(state)
    start = mersenne.seeded(begin % 2**32, "knuth")
    draws = None if now is None else mersenne.distance(start, now)
    return Position(begin, draws, beyond=draws is None)


def twister(state: bytes) -> mersenne.Twister | None:
    """Return the Mersenne Twister in a CPU state, or None for other states."""
    if len(state) != _CPU_SIZE:
        return None
    import numpy as np

    _, left, _, _, words = _CPU_HEAD.unpack_from(state)
    low = np.frombuffer(words, dtype=np.uint64).astype(np.uint32).tobytes()
    return mersenne.Twister(low, mersenne.N + 1 - left)


KIND = Kind("torch.Generator", "torch", read, write, seed, lambda it, _: locate(read(it), ()))


def has_torch() -> bool:
    """Return whether torch has been imported completely, without importing it."""
    return hasattr(sys.modules.get("torch"), "default_generator")


def started(kind: str) -> bool:
    """Return whether devices of a type (``cuda``, ``xpu``) have started."""
    torch = sys.modules.get("torch")
    module = getattr(torch, kind, None)
    return module is not None and bool(module.is_initialized())


def origin(state: bytes) -> bytes | None:
    """Return the state that a device's generator had right after seeding.

    Return None for states of other generators.
    """
    if len(state) != _PHILOX.size:
        return None
    return _PHILOX.pack(_PHILOX.unpack(state)[0], 0)


def start(names: Iterable[str]) -> None:
    """Start the device types of sources such as ``torch.cuda:0``, if available."""
    for kind in _LAZY:
        wanted = any(name.startswith(f"torch.{kind}:") for name in names)
        if wanted and has_torch() and not started(kind):
            module: Any = getattr(sys.modules["torch"], kind)
            if module.is_available():
                module.init()


def queued_write(name: str, state: bytes) -> Callable[[], object] | None:
    """Return a function that sets a device's state when the device starts.

    Args:
        name: The name of the source, such as ``torch.cuda:0``.
        state: The state for the device.

    Returns:
        The function, or None if this machine has no such device.

    Raises:
        StateError: ``state`` is not a state of such a device.
    """
    kind, _, index = name.removeprefix("torch.").partition(":")
    if name != f"torch.{kind}:{index}" or kind not in _LAZY or not re.fullmatch(r"\d{1,4}", index):
        return None
    import torch

    module = getattr(torch, kind)
    if int(index) >= module.device_count():
        return None
    if len(state) != _PHILOX.size:
        raise StateError(
            f"{len(state)} bytes are not a valid state of {name}, which has {_PHILOX.size}"
        )
    given = torch.frombuffer(bytearray(state), dtype=torch.uint8)
    return lambda: module.set_rng_state(given, int(index))


def default_generators() -> dict[str, Generator]:
    """Return the generators of the CPU and of started devices, by source name."""
    if not has_torch():
        return {}
    torch = sys.modules["torch"]
    found = {"torch.cpu": torch.default_generator}
    for kind in filter(started, _LAZY):
        devices = getattr(torch, kind).default_generators
        found |= {f"torch.{kind}:{index}": each for index, each in enumerate(devices)}
    if torch.backends.mps.is_available():
        found["torch.mps"] = torch.mps._get_default_mps_generator()  # noqa: SLF001
    return found


def sources() -> list[Source]:
    """Return the sources of the CPU and of devices that have started."""
    return [*starmap(_source, default_generators().items())]


@lru_cache(maxsize=64)
def _source(name: str, generator: Generator) -> Source:
    return KIND.source(name, lambda: generator, locate)


def seeder() -> Callable[[int], object]:
    """Return a function that seeds every device.

    For CUDA and XPU, the seed is queued until they start. If torch is built only for the CPU, the
    function skips the queue, for which torch would format the whole call stack.
    """
    import torch

    # torch 2.6 would ask the driver, and raise if there is none.
    if torch.__version__ >= "2.7" and torch.accelerator.current_accelerator() is None:
        return torch.default_generator.manual_seed
    return torch.manual_seed


def seeded_state(value: int) -> bytes:
    """Return the state of the CPU generator after seeding, without importing torch."""
    import numpy as np

    words = np.frombuffer(mersenne.seeded(value, "knuth").words, dtype="<u4").astype("<u8")
    return _CPU_HEAD.pack(value, 1, 1, 0, words.tobytes()).ljust(_CPU_SIZE, b"\0")


class Awaited:
    """A seed for torch, applied when the user imports it.

    It is added to ``sys.meta_path`` as a finder by ``seed``, and removed by the import. Until then,
    it is the source of torch. If a state was written to the source in the meantime, it also sets
    that state.
    """

    def __init__(self) -> None:
        self._source = Source("torch.cpu", self.seed, lambda: self._state, self._write, locate)
        self._seed = 0
        self._state = b""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The source, if torch will be seeded at its import; else nothing."""
        return (self._source,) if self in sys.meta_path else ()

    @staticmethod
    def can_wait() -> bool:
        """Return whether torch is installed and was not imported yet."""
        return "torch" not in sys.modules and PathFinder.find_spec("torch") is not None

    def seed(self, value: int) -> None:
        """Seed torch once it is imported."""
        self._seed, self._state = value, seeded_state(value)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)  # first, because `find_spec` calls the other finders

    def _write(self, state: bytes) -> None:
        self._state = state

    def cancel(self) -> bool:
        """Do not seed torch at its import; return whether that was planned."""
        waited = self in sys.meta_path
        if waited:
            sys.meta_path.remove(self)
        return waited

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec from other finders, with a loader that seeds torch."""
        spec = find_after(self, name, path, target) if name == "torch" else None
        if spec is not None:
            wrap_loader(spec, self._run)
        return spec

    def _run(self, loader: Any, module: ModuleType) -> None:
        loader.exec_module(module)
        self.cancel()
        try:
            seeder()(self._seed)
            if self._state != seeded_state(self._seed):
                write(module.default_generator, self._state)
        except Exception as error:  # noqa: BLE001 -- the user's import must not fail
            warnings.warn(f"torch could not be seeded: {in_brief(error)}", stacklevel=2)


AWAITED = Awaited()


class Queue(Struct, frozen=True):
    """The seeds that torch queues for devices that have not started.

    Attributes:
        fields: The attributes of torch's ``_LazySeedTracker``, by device type. Types that had
            started are missing, because their generators have states.
    """

    fields: Mapping[str, dict[str, Any]]

    @classmethod
    def read(cls) -> Queue:
        """Copy the queue, without starting a device."""
        waiting = {kind: _tracker(kind) for kind in _LAZY if not started(kind)}
        return cls({kind: _copy(vars(it)) for kind, it in waiting.items() if it is not None})

    def write(self) -> None:
        """Restore the queue; seed devices that have started since with the queued seeds.

        Devices that started without a queued seed do not change.
        """
        for kind, fields in self.fields.items():
            if not started(kind):
                vars(_tracker(kind)).update(_copy(fields))
                continue
            for call in filter(None, fields.get("call_order", ())):
                call[0]()


def _tracker(kind: str) -> Any:  # torch's private _LazySeedTracker, or None
    module = getattr(sys.modules.get("torch"), kind, None)
    return getattr(module, "_lazy_seed_tracker", None)


def _copy(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: [*value] if isinstance(value, list) else value for name, value in fields.items()}


LIBRARY = Library("torch", "torch", seeder, sources, essential=True, awaited=AWAITED)
