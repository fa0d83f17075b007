"""Records of other machines, so that drawings are the same everywhere."""

from __future__ import annotations

import torch
from msgspec.structs import replace

from ipytorchseed.determinism.alerts import Alert
from ipytorchseed.determinism.assessment import Assessment, judge
from ipytorchseed.determinism.flag import ANY, Unreadable
from ipytorchseed.determinism.machine import Fact, Machine
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.render.seeding import Row, SeedStatus
from ipytorchseed.rng.position import UNKNOWN, Position

CPU = Machine(torch=(2, 13), cuda=False, xpu=False, started=False)
GPU = Machine(torch=(2, 9), cuda=True, xpu=False, started=True)

FACTS = (
    (Fact("torch", lambda: None), "2.13.0+cpu"),
    (Fact("python", lambda: None), "3.11.7"),
    (Fact("cpu", lambda: None), "A processor with a name as long as names are, 64 logical cores"),
    (
        Fact(
            "gpu",
            lambda: None,
            unknown="known once CUDA has started; reading it now would start CUDA",
        ),
        None,
    ),
)

# Values of flags in a plain process. Other flags are False, and other variables are None.
VALUES = {
    "torch.use_deterministic_algorithms": False,
    "torch.use_deterministic_algorithms.warn_only": False,
    "PYTHONHASHSEED": "random",
    "torch.default_dtype": torch.float32,
    "torch.default_device": None,
    "torch.num_threads": 8,
    "torch.autocast.cpu.dtype": torch.bfloat16,
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": (True, True),
    "torch.backends.cuda.matmul.allow_tf32": Unreadable("torch would not tell"),
    "torch.float32_matmul_precision": "highest",
    "torch._inductor.config.numerics": "default",
}

GPU_VALUES = VALUES | {
    "torch.use_deterministic_algorithms": True,
    "torch.use_deterministic_algorithms.warn_only": True,
    "torch.utils.deterministic.fill_uninitialized_memory": True,
    "torch.backends.cudnn.benchmark": True,
    "torch.backends.cudnn.deterministic": False,
    "CUBLAS_WORKSPACE_CONFIG": ":4096:2",
    "PYTHONHASHSEED": "0",
}


def assessment(machine: Machine, values: dict[str, object]) -> Assessment:
    """Judge every flag of the table by given values, as on a real machine."""

    def read(name: str) -> object:
        return values.get(name, None if name.isupper() else False)

    flags = [replace(flag, get=lambda name=flag.name: read(name)) for flag in FLAGS]
    return Assessment(tuple(judge(flag, machine) for flag in flags), FACTS)


def right(machine: Machine) -> Assessment:
    """Return an assessment in which every flag is as it should be."""
    wanted = {flag.name: flag.wanted(machine) for flag in FLAGS}
    return assessment(
        machine, VALUES | {n: value for n, value in wanted.items() if value is not ANY}
    )


ASSESSMENTS = {
    "cpu": assessment(CPU, VALUES),
    "gpu": assessment(GPU, GPU_VALUES),
    "right": right(CPU),
}

ALERTS = {
    "one": [Alert("put_", 3, "x.put_(index, values)")],
    "several": [
        Alert("put_", 3, "x.put_(index, values)", count=1500),
        Alert("upsample_bilinear2d_backward_out_cuda", 12, "loss.backward()"),
        Alert("put_", 14, "picked = take(scores, best)", count=3, forward=9),
        Alert("an_operation_that_torch_does_not_list", None, ""),
    ],
}

STATUSES = {
    "plain": SeedStatus(
        "Last seed: 42.",
        [
            Row("python", "", "d19eacf3d19eacf3", Position(42, 0)),
            Row("numpy", "", "e240272fe240272f", Position(42, 1)),
            Row("torch.cpu", "", "fadcc6a5fadcc6a5", Position(42, 1005)),
            Row("torch.cuda:0", "", None, UNKNOWN),
        ],
    ),
    "generators": SeedStatus(
        "Last seed: 4189886701. Each cell now starts from its own seed, derived from 42 and the"
        " cell's text.",
        [
            Row("python", "", "d19eacf3d19eacf3", Position(7, None, beyond=True)),
            Row("g", "torch.Generator", "589fb78e589fb78e", Position(0, 3)),
            Row(
                "loaders['a name that is too long for any table'].sampler.generator",
                "numpy.random.Generator",
                "38a34d5c38a34d5c",
                UNKNOWN,
            ),
        ],
    ),
}
