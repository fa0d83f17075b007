"""The flags that are environment variables, and this process's hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache, partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.machine import Machine

_CUBLAS_FITS = (":4096:8", ":16:8")


@lru_cache(maxsize=8)
def _hash_under(seed: str) -> int | None:
    """Return the hash of a word in a new interpreter with this hash seed."""
    try:
        program = [sys.executable, "-c", "print(hash('ipytorchseed'))"]
        given = {**os.environ, "PYTHONHASHSEED": seed}
        return int(subprocess.check_output(program, env=given, stderr=DEVNULL, timeout=30))  # noqa: S603 -- our own text
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def hash_seed() -> str:
    """Return the hash seed that this process uses, or ``random``.

    The variable alone is not enough: it may have been set after the start, without effect. So the
    hash of a word here is compared with its hash in a process that starts with the variable.
    """
    if not sys.flags.hash_randomization:
        return "0"
    for said in (os.environ.get("PYTHONHASHSEED", ""), _hash_seed_at_start()):
        if said.isdecimal() and hash("ipytorchseed") == _hash_under(said):
            return said
    return "random"


@lru_cache(maxsize=1)
def _hash_seed_at_start() -> str:
    """Return PYTHONHASHSEED from the start of this process; empty except on Linux."""
    try:
        entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    given = dict(entry.partition(b"=")[::2] for entry in entries)
    return given.get(b"PYTHONHASHSEED", b"").decode(errors="replace")


def set_variable(name: str, value: str | None) -> None:
    """Set an environment variable; None removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _has_old_cublas(machine: Machine) -> bool:
    return machine.cuda and machine.torch < (2, 10)


def _has_flash_attention(machine: Machine) -> bool:
    return machine.cuda and "flash_attn" in sys.modules


def _variable(name: str, why: str, source: str, **fields: Any) -> Flag:
    """Return the flag of an environment variable.

    By default it is too late to change it, because the process has already started.
    """
    late = {"late": lambda _: "read when the process starts"}
    write = partial(set_variable, name)  # in time for child processes
    return Flag(name, lambda: os.environ.get(name), why, source, write, **{**late, **fields})


_THREADS = "torch.num_threads"
_NOTES = "https://docs.pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html"

FLAGS: tuple[Flag, ...] = (
    Flag("PYTHONHASHSEED", hash_seed,
        "Unless this is a fixed number, strings hash differently in each process, so sets of"
        " strings have a different order after a restart.",
        "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
        wanted=lambda _: "0",
        fits=lambda value, _: value != "random",
        late=lambda _: (
            "read when Python starts; setting it in a notebook does nothing to this kernel"
        ),
        risk="the order of a set of strings changes at each restart",
        remedy="start Jupyter with PYTHONHASHSEED=0"),
    _variable("CUBLAS_WORKSPACE_CONFIG",
        "Up to torch 2.9 it must be :4096:8 or :16:8 (torch refuses :4096:2, which old posts use)."
        " From 2.10, torch allocates cuBLAS's workspace itself.",
        "https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility",
        wanted=lambda machine: _CUBLAS_FITS[0] if _has_old_cublas(machine) else ANY,
        fits=lambda value, _: value in _CUBLAS_FITS,
        applies=_has_old_cublas,
        late=lambda machine: "read once, and CUDA has started" if machine.started else None,
        risk="cuBLAS may use its workspace in a different order",
        remedy="start Jupyter with CUBLAS_WORKSPACE_CONFIG=:4096:8"),
    _variable("FLASH_ATTENTION_DETERMINISTIC",
        "If 1, flash_attn uses a deterministic backward pass when transformers calls it.",
        "https://github.com/huggingface/transformers/blob/main/src/transformers/"
        "modeling_flash_attention_utils.py",
        wanted=lambda machine: "1" if _has_flash_attention(machine) else ANY,
        applies=_has_flash_attention,
        late=lambda _: None,
        risk="flash_attn's backward adds up in any order"),
    _variable("CUDA_LAUNCH_BLOCKING",
        "If 1, kernels run one after the other. This mattered for RNNs on CUDA 10.1 and no longer"
        " changes results.", "https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html"),
    _variable("OMP_NUM_THREADS", "Sets torch.num_threads when torch starts.", _NOTES,
        changes_with=_THREADS),
    _variable("MKL_NUM_THREADS", "Sets the number of MKL's threads when torch starts.", _NOTES,
        changes_with=_THREADS),
    _variable("MKL_CBWR",
        "Fixes MKL's instruction set, so that different CPUs of a family give the same bits; on one"
        " machine, AUTO makes products independent of an array's memory address.",
        "https://www.intel.com/content/www/us/en/docs/onemkl/developer-guide-linux/2025-0/"
        "obtaining-numerically-reproducible-results.html"),
)  # fmt: skip


def read() -> dict[str, object]:
    """Return the values of these flags by name, without importing torch."""
    return {flag.name: flag.read() for flag in FLAGS}


def launch_environment(*, hash_seed: int = 0, threads: int | None = None) -> dict[str, str]:
    """Return the variables that must be set before a process starts, with values.

    This imports torch, because its version decides which values are needed. It starts no device.

    Args:
        hash_seed: The value of ``PYTHONHASHSEED``, from 0 to 2**32-1.
        threads: The number of threads for torch and MKL; None for torch's number in this process.
    """
    import torch

    machine = Machine.here()
    found = {flag.name: flag.wanted(machine) for flag in FLAGS}
    count = torch.get_num_threads() if threads is None else threads
    found |= {"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}
    if torch.backends.mkl.is_available():
        found["MKL_CBWR"] = "AUTO"
    return {name: str(value) for name, value in found.items() if value is not ANY}
