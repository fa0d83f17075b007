"""What repeatability needs depends on the machine.

Wishes, lateness, and what does not apply.
"""

from __future__ import annotations

import builtins
import sys

import pytest
import torch

from ipytorchseed.determinism.assessment import Standing, judge
from ipytorchseed.determinism.flag import ANY
from ipytorchseed.determinism.machine import FACTS, Machine
from ipytorchseed.determinism.table import FLAGS

CPU = Machine(torch=(2, 13), cuda=False, xpu=False, started=False)
GPU = Machine(torch=(2, 13), cuda=True, xpu=False, started=False)
OLD_CPU = Machine(torch=(2, 9), cuda=False, xpu=False, started=False)
OLD_GPU = Machine(torch=(2, 9), cuda=True, xpu=False, started=False)
OLD_STARTED = Machine(torch=(2, 9), cuda=True, xpu=False, started=True)
INTEL = Machine(torch=(2, 13), cuda=False, xpu=True, started=False)

INDUCTOR = "torch._inductor.config.deterministic"
CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
FLASH = "FLASH_ATTENTION_DETERMINISTIC"


def _row(name):
    return next(flag for flag in FLAGS if flag.name == name)


@pytest.mark.parametrize(
    ("name", "machine", "wanted"),
    [
        ("torch.use_deterministic_algorithms", CPU, True),
        ("torch.use_deterministic_algorithms", OLD_GPU, True),
        ("torch.use_deterministic_algorithms.warn_only", CPU, False),
        ("torch.utils.deterministic.fill_uninitialized_memory", CPU, True),
        (INDUCTOR, CPU, True),
        (INDUCTOR, Machine(torch=(2, 10), cuda=False, xpu=False, started=False), True),
        (INDUCTOR, OLD_GPU, ANY),
        ("torch.backends.cudnn.benchmark", GPU, False),
        ("torch.backends.cudnn.benchmark", CPU, False),
        ("torch.backends.cudnn.deterministic", GPU, True),
        ("torch.backends.cudnn.deterministic", CPU, True),
        ("torch.backends.cudnn.enabled", GPU, ANY),
        ("torch.backends.mkldnn.deterministic", INTEL, True),
        ("torch.backends.mkldnn.deterministic", GPU, ANY),
        (CUBLAS, OLD_GPU, ":4096:8"),
        (CUBLAS, Machine(torch=(2, 10), cuda=True, xpu=False, started=False), ANY),
        (CUBLAS, GPU, ANY),
        (CUBLAS, OLD_CPU, ANY),
        ("PYTHONHASHSEED", CPU, "0"),
        ("CUDA_LAUNCH_BLOCKING", OLD_GPU, ANY),
        ("torch.num_threads", CPU, ANY),
        ("torch.default_dtype", GPU, ANY),
        ("torch.backends.cuda.matmul.allow_tf32", GPU, ANY),
    ],
)
def test_what_a_flag_should_be(name, machine, wanted):
    """Old advice is given where it holds, and nowhere else."""
    assert _row(name).wanted(machine) == wanted


@pytest.mark.parametrize(
    ("name", "machine", "applies"),
    [
        ("torch.backends.cudnn.benchmark", GPU, True),
        ("torch.backends.cudnn.benchmark", CPU, False),
        ("torch.backends.cuda.matmul.allow_tf32", CPU, False),
        ("torch.backends.cudnn.conv.fp32_precision", CPU, False),
        ("torch.backends.mkldnn.conv.fp32_precision", CPU, True),
        ("torch.backends.mkldnn.deterministic", INTEL, True),
        ("torch.backends.mkldnn.deterministic", CPU, False),
        (CUBLAS, OLD_GPU, True),
        (CUBLAS, GPU, False),
        (CUBLAS, OLD_CPU, False),
        ("torch.use_deterministic_algorithms", CPU, True),
    ],
)
def test_what_acts_on_nothing_here_is_absent(name, machine, applies):
    """A flag of missing hardware or versions does not count, whatever its value."""
    assert _row(name).applies(machine) is applies
    assert (judge(_row(name), machine).standing is Standing.ABSENT) is not applies


@pytest.mark.parametrize(
    ("value", "standing"),
    [
        (":4096:8", Standing.RIGHT),
        (":16:8", Standing.RIGHT),
        (":4096:2", Standing.WRONG),
        (None, Standing.WRONG),
        ("", Standing.WRONG),
    ],
)
def test_cublas_takes_two_values(monkeypatch, value, standing):
    """``:4096:2``, which old posts give for RNNs, is none of them."""
    if value is None:
        monkeypatch.delenv(CUBLAS, raising=False)
    else:
        monkeypatch.setenv(CUBLAS, value)
    assert judge(_row(CUBLAS), OLD_GPU).standing is standing


def test_once_cuda_has_started_cublas_is_too_late(monkeypatch):
    """It is read once; the verdict says so and what to do the next time."""
    monkeypatch.delenv(CUBLAS, raising=False)
    judged = judge(_row(CUBLAS), OLD_STARTED)
    assert judged.standing is Standing.LATE
    assert judged.late
    assert not judged.ok
    assert ":4096:8" in judged.flag.remedy
    monkeypatch.setenv(CUBLAS, ":16:8")
    assert judge(_row(CUBLAS), OLD_STARTED).standing is Standing.RIGHT


def test_flash_attn_is_spoken_of_where_it_is_imported(monkeypatch):
    """The package is looked for among what is loaded, and only beside a GPU."""
    monkeypatch.delitem(sys.modules, "flash_attn", raising=False)
    assert _row(FLASH).wanted(GPU) is ANY
    assert not _row(FLASH).applies(GPU)
    monkeypatch.setitem(sys.modules, "flash_attn", object())
    assert _row(FLASH).wanted(GPU) == "1"
    assert _row(FLASH).applies(GPU)
    assert not _row(FLASH).applies(CPU)


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
@pytest.mark.parametrize("machine", [CPU, GPU, OLD_CPU, OLD_GPU, OLD_STARTED, INTEL])
def test_every_flag_is_judged_on_every_machine(flag, machine):
    """No row fails, and none is a problem that it cannot explain."""
    judged = judge(flag, machine)
    assert isinstance(judged.standing, Standing)
    assert judged.ok or flag.risk
    assert judged.standing is not Standing.LATE or judged.late
    assert judged.ok or flag.set is not None or flag.remedy


# --------------------------------------------------------------------------------------------------
# This machine


def test_this_machine_is_described_without_starting_a_device(monkeypatch):
    """Versions are numbers, and looking for a GPU starts none."""

    def start():
        pytest.fail("CUDA was started")

    monkeypatch.setattr(torch.cuda, "_lazy_init", start)
    here = Machine.here()
    assert here.torch >= (2, 4)
    assert here.started is torch.cuda.is_initialized()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.13.0+cpu", (2, 13)),
        ("2.4.1", (2, 4)),
        ("3.0.0a0+git123", (3, 0)),
        ("2.10.0.dev1", (2, 10)),
    ],
)
def test_a_version_of_any_form_is_understood(monkeypatch, version, expected):
    """Development builds and local labels count by their first two numbers."""
    monkeypatch.setattr(torch, "__version__", version)
    assert Machine.here().torch == expected


def _fact(name):
    return next(fact for fact in FACTS if fact.name == name)


def test_a_gpu_that_has_not_started_is_named_by_its_driver(monkeypatch, tmp_path):
    """The driver's own files name it; where they cannot be read, it stays unknown."""
    folder = tmp_path / "0000:01:00.0"
    folder.mkdir()
    information = folder / "information"
    information.write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n", encoding="utf-8")
    monkeypatch.setattr(Machine, "here", lambda: GPU)
    monkeypatch.setattr("ipytorchseed.determinism.machine.Path", lambda _: tmp_path)
    assert _fact("gpu").get() == "NVIDIA H200"
    information.unlink()
    assert _fact("gpu").get() is None


def test_a_machine_without_a_gpu_says_none():
    """None to name is an answer, and not the same as not knowing."""
    assert _fact("gpu").get() == "none"
    if torch.version.cuda is None:
        assert "built for the CPU" in _fact("cuda").get()
        assert _fact("cudnn").get() == "none"
    else:
        assert _fact("cuda").get() == torch.version.cuda


def test_rocm_is_named(monkeypatch):
    """A torch for AMD's GPUs has no CUDA version, but one of ROCm."""
    monkeypatch.setattr(torch.version, "hip", "6.2")
    assert _fact("cuda").get() == "ROCm 6.2"


def test_the_processor_is_named_without_linuxs_files(monkeypatch):
    """Where there is no ``/proc/cpuinfo`` the platform is asked."""
    from ipytorchseed.determinism import machine

    def refuse(*_, **__):
        raise OSError

    machine._cpu_model.cache_clear()
    monkeypatch.setattr(machine.Path, "read_text", refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(machine.platform, "processor", lambda: "")
    monkeypatch.setattr(machine.platform, "machine", lambda: "riscv64")
    try:
        assert _fact("cpu").get().startswith("riscv64, ")
    finally:
        machine._cpu_model.cache_clear()
