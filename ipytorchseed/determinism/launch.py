"""The environment variables with which a process starts right, read from the table of flags."""

from __future__ import annotations

from ipytorchseed.determinism.environment import FLAGS
from ipytorchseed.determinism.flag import ANY
from ipytorchseed.determinism.machine import Machine


def launch_environment(*, hash_seed: int = 0, threads: int | None = None) -> dict[str, str]:
    """Return the variables, with their values, that are too late to set in a running process.

    torch is imported, as its version decides what is needed; no device is started.

    Args:
        hash_seed: For ``PYTHONHASHSEED``, from 0 to 2**32-1.
        threads: For torch and MKL; None for as many as torch takes on this machine.
    """
    import torch

    machine = Machine.here()
    count = torch.get_num_threads() if threads is None else threads
    found = {
        flag.name: flag.wanted(machine) if flag.begin is None else flag.begin(machine, count)
        for flag in FLAGS
    }
    found["PYTHONHASHSEED"] = str(hash_seed)
    return {name: str(value) for name, value in found.items() if value is not ANY}
