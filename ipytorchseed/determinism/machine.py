"""Hardware and versions of this process, read without starting a device."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from ipytorchseed.rng.table import check_folder


class Machine(Struct, frozen=True):
    """The facts that decide which values flags should have.

    Attributes:
        torch: The version as (major, minor).
        cuda: True if torch is built for CUDA or ROCm and there is a GPU.
        xpu: True if torch is built for Intel GPUs and there is one.
        started: True if CUDA is initialized in this process.
    """

    torch: tuple[int, int]
    cuda: bool
    xpu: bool
    started: bool

    @classmethod
    def here(cls) -> Machine:
        """Describe this process; this imports torch.

        Raises:
            SourceError: torch cannot be imported, because the working folder was removed.
        """
        check_folder("torch")
        import torch

        major, minor = re.findall(r"\d+", torch.__version__)[:2]
        cuda = torch.cuda._is_compiled() and torch.cuda.device_count() > 0  # noqa: SLF001
        xpu = torch.xpu._is_compiled() and torch.xpu.device_count() > 0  # noqa: SLF001
        return cls((int(major), int(minor)), cuda, xpu, torch.cuda.is_initialized())


class Fact(Struct, frozen=True):
    """A row of the table of versions and hardware.

    A fact affects numbers, but cannot be set.

    Attributes:
        name: ``torch``, ``cpu``, ``gpu``, ...
        get: Returns the value as text, or None if it is unknown now.
        unknown: Why the value may be unknown.
        needs_torch: Whether ``get`` imports torch.
    """

    name: str
    get: Callable[[], str | None]
    unknown: str = "cannot be read here"
    needs_torch: bool = False

    def read(self) -> str | None:
        """Return the value, or None if it is unknown now."""
        try:
            return self.get()
        except Exception:  # noqa: BLE001 -- a driver may raise anything; the value is then unknown
            return None


def _module_version(name: str) -> str | None:
    version = getattr(sys.modules.get(name), "__version__", None)
    return None if version is None else str(version)  # torch has a class for its version


@lru_cache(maxsize=1)
def _cpu_model() -> str:
    text = ""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    named = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return named.group(1).strip() if named else platform.processor() or platform.machine()


def _cpu() -> str:
    import torch

    kernels = torch.backends.cpu.get_cpu_capability()
    return f"{_cpu_model()}, {os.cpu_count()} logical cores, {kernels} kernels"


def _gpu() -> str | None:
    import torch

    if not Machine.here().cuda:
        return "none"
    if torch.cuda.is_initialized():
        count = torch.cuda.device_count()
        return ", ".join(torch.cuda.get_device_name(index) for index in range(count))
    files = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    text = "\n".join(each.read_text(errors="replace") for each in files)
    return ", ".join(map(str.strip, re.findall(r"^Model:\s*(.+)$", text, re.MULTILINE))) or None


def _cuda() -> str | None:
    import torch

    if torch.version.hip:
        return f"ROCm {torch.version.hip}"
    return torch.version.cuda or "none: this torch is built for the CPU"


def _cudnn() -> str | None:
    import torch

    if not torch.backends.cudnn.is_available():
        return "none"
    return str(torch.backends.cudnn.version()) if torch.cuda.is_initialized() else None


_AFTER_START = "known once CUDA has started; reading it now would start CUDA"

FACTS: tuple[Fact, ...] = (
    Fact("torch", lambda: _module_version("torch")),
    Fact("numpy", lambda: _module_version("numpy")),
    Fact("python", platform.python_version),
    Fact("cpu", _cpu, needs_torch=True),
    Fact("gpu", _gpu, unknown=_AFTER_START, needs_torch=True),
    Fact("cuda", _cuda, needs_torch=True),
    Fact("cudnn", _cudnn, unknown=_AFTER_START, needs_torch=True),
)
