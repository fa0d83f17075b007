"""Lines of code that change and read torch's settings, for tests in any order.

A change is a line that a user would type, so that a failing example can be pasted into a shell.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING

import torch
import torch._inductor.config
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BOTH = (True, False)
_PRECISIONS = ("'none'", "'ieee'", "'tf32'")  # what every backend takes
_BRAINS = (*_PRECISIONS, "'bf16'")  # what all but cuda take
_SPLIT_K = (*_BOTH, (False, False))
_DTYPES = ("torch.bfloat16", "torch.float16")

_FORMS: dict[str, Iterable[object]] = {
    "torch.use_deterministic_algorithms({}, warn_only={})": product(_BOTH, _BOTH),
    "torch.set_deterministic_debug_mode({})": (0, 1, 2),
    "torch.utils.deterministic.fill_uninitialized_memory = {}": _BOTH,
    "torch._inductor.config.deterministic = {}": _BOTH,
    "torch._inductor.config.fallback_random = {}": _BOTH,
    "torch._inductor.config.emulate_precision_casts = {}": _BOTH,
    "torch._inductor.config.eager_numerics.division_rounding = {}": _BOTH,
    "torch._inductor.config.eager_numerics.disable_ftz = {}": _BOTH,
    "torch._inductor.config.eager_numerics.use_pytorch_libdevice = {}": _BOTH,
    "torch._inductor.config.batch_invariant = {}": _BOTH,
    "torch._inductor.config.numerics = {}": ("'default'", "'strict'"),
    "torch.backends.cudnn.enabled = {}": _BOTH,
    "torch.backends.cudnn.benchmark = {}": _BOTH,
    "torch.backends.cudnn.deterministic = {}": _BOTH,
    "torch.backends.mkldnn.enabled = {}": _BOTH,
    "torch.backends.mkldnn.deterministic = {}": _BOTH,
    "torch.set_float32_matmul_precision({})": ("'highest'", "'high'", "'medium'"),
    "torch.backends.cuda.matmul.allow_tf32 = {}": _BOTH,
    "torch.backends.cudnn.allow_tf32 = {}": _BOTH,
    "torch.backends.fp32_precision = {}": _BRAINS,
    "torch.backends.mkldnn.fp32_precision = {}": _BRAINS,
    "torch.backends.mkldnn.set_flags(_fp32_precision={})": _BRAINS,
    "torch.backends.mkldnn.matmul.fp32_precision = {}": _BRAINS,
    "torch.backends.mkldnn.conv.fp32_precision = {}": _BRAINS,
    "torch.backends.mkldnn.rnn.fp32_precision = {}": _BRAINS,
    "torch.backends.cudnn.fp32_precision = {}": _PRECISIONS,
    "torch.backends.cudnn.conv.fp32_precision = {}": _PRECISIONS,
    "torch.backends.cudnn.rnn.fp32_precision = {}": _PRECISIONS,
    "torch.backends.cuda.matmul.fp32_precision = {}": _PRECISIONS,
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = {}": _SPLIT_K,
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = {}": _SPLIT_K,
    "torch.backends.cuda.matmul.allow_fp16_accumulation = {}": _BOTH,
    "torch.backends.cuda.enable_flash_sdp({})": _BOTH,
    "torch.backends.cuda.enable_mem_efficient_sdp({})": _BOTH,
    "torch.backends.cuda.enable_math_sdp({})": _BOTH,
    "torch.backends.cuda.enable_cudnn_sdp({})": _BOTH,
    "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp({})": _BOTH,
    "torch.set_default_dtype({})": (*_DTYPES, "torch.float32", "torch.float64"),
    "torch.set_default_device({})": (None, "'cpu'", "'meta'", "'cuda'", "'cuda:1'"),
    "torch.set_grad_enabled({})": _BOTH,
    "torch.set_autocast_enabled({}, {})": product(("'cpu'", "'cuda'"), _BOTH),
    "torch.set_autocast_dtype({}, {})": product(("'cpu'", "'cuda'"), _DTYPES),
    "torch.set_num_threads({})": (1, 2, 3),
    "os.environ[{}] = {}": product(
        ("'CUBLAS_WORKSPACE_CONFIG'", "'OMP_NUM_THREADS'", "'MKL_CBWR'"), ("':4096:8'", "'1'")
    ),
    "os.environ.pop({}, None)": ("'CUBLAS_WORKSPACE_CONFIG'", "'CUDA_LAUNCH_BLOCKING'"),
}


def _fill(form: str, value: object) -> str:
    several = isinstance(value, tuple) and form.count("{}") > 1
    return form.format(*value) if several else form.format(value)


# The release of torch that added a setting, if newer than the oldest that we support.
_SINCE = {
    "allow_fp16_accumulation": (2, 7),
    "fp32_precision": (2, 9),
    "reduction = (": (2, 10),
}


# Settings of inductor, whose number grows: this torch may not have them.
_COMPILED = re.compile(r"_inductor\.config\.(\w+)")


def _known(line: str) -> bool:
    compiled = all(hasattr(torch._inductor.config, name) for name in _COMPILED.findall(line))
    new = [since for word, since in _SINCE.items() if word in line]
    return compiled and all(torch.__version__ >= since for since in new)


# Lines that change one setting each.
CHANGES = tuple(
    line
    for form, values in _FORMS.items()
    for line in (_fill(form, value) for value in values)
    if _known(line)
)

# Those of the float32 precision family, with old and new names.
PRECISION_CHANGES = tuple(
    line for line in CHANGES if "fp32_precision" in line or "matmul_precision" in line
) + tuple(line for line in CHANGES if "allow_tf32" in line)

# Expressions of torch's public names that read a flag, by its name in the table.
READINGS = {
    "torch.use_deterministic_algorithms": "torch.are_deterministic_algorithms_enabled()",
    "torch.use_deterministic_algorithms.warn_only": (
        "torch.is_deterministic_algorithms_warn_only_enabled()"
    ),
    "torch.default_dtype": "torch.get_default_dtype()",
    "torch.grad_enabled": "torch.is_grad_enabled()",
    "torch.inference_mode_enabled": "torch.is_inference_mode_enabled()",
    "torch.autocast.cpu.enabled": "torch.is_autocast_enabled('cpu')",
    "torch.autocast.cpu.dtype": "torch.get_autocast_dtype('cpu')",
    "torch.autocast.cuda.enabled": "torch.is_autocast_enabled('cuda')",
    "torch.autocast.cuda.dtype": "torch.get_autocast_dtype('cuda')",
    "torch.num_threads": "torch.get_num_threads()",
    "torch.num_interop_threads": "torch.get_num_interop_threads()",
    "torch._inductor.config.numerics": (
        "getattr(torch._inductor.config, 'numerics', 'default')"  # since torch 2.14
    ),
    "torch.float32_matmul_precision": "torch.get_float32_matmul_precision()",
    **{
        f"torch.backends.cuda.{name}": f"torch.backends.cuda.{name}()"
        for name in (
            "flash_sdp_enabled",
            "mem_efficient_sdp_enabled",
            "math_sdp_enabled",
            "cudnn_sdp_enabled",
            "fp16_bf16_reduction_math_sdp_allowed",
        )
    },
    **{
        name: name
        for name in (
            "torch._inductor.config.deterministic",
            "torch._inductor.config.fallback_random",
            "torch._inductor.config.emulate_precision_casts",
            "torch._inductor.config.eager_numerics.division_rounding",
            "torch._inductor.config.eager_numerics.disable_ftz",
            "torch._inductor.config.eager_numerics.use_pytorch_libdevice",
            "torch._inductor.config.batch_invariant",
            "torch.utils.deterministic.fill_uninitialized_memory",
            "torch.backends.cudnn.enabled",
            "torch.backends.cudnn.benchmark",
            "torch.backends.cudnn.deterministic",
            "torch.backends.cudnn.allow_tf32",
            "torch.backends.mkldnn.enabled",
            "torch.backends.mkldnn.deterministic",
            "torch.backends.cuda.matmul.allow_tf32",
            "torch.backends.cuda.matmul.allow_fp16_accumulation",
            "torch.backends.fp32_precision",
            "torch.backends.cudnn.fp32_precision",
            "torch.backends.cudnn.conv.fp32_precision",
            "torch.backends.cudnn.rnn.fp32_precision",
            "torch.backends.cuda.matmul.fp32_precision",
            "torch.backends.mkldnn.fp32_precision",
            "torch.backends.mkldnn.matmul.fp32_precision",
            "torch.backends.mkldnn.conv.fp32_precision",
            "torch.backends.mkldnn.rnn.fp32_precision",
        )
    },
    **{
        name: f"os.environ.get({name!r})"
        for name in (
            "CUBLAS_WORKSPACE_CONFIG",
            "FLASH_ATTENTION_DETERMINISTIC",
            "CUDA_LAUNCH_BLOCKING",
            "OMP_NUM_THREADS",
            "MKL_NUM_THREADS",
            "MKL_CBWR",
        )
    },
}


def lines(of: tuple[str, ...] = CHANGES, *, at_most: int = 8) -> st.SearchStrategy[list[str]]:
    """Draw changes in any order, also repeated."""
    return st.lists(st.sampled_from(of), max_size=at_most)


def change(*lines: str) -> None:
    """Run changes, one after the other."""
    for line in lines:
        exec(line, {"torch": torch, "os": os})  # noqa: S102 -- our own lines, of the table above


def told(name: str) -> object:
    """Return torch's answer to a question about a flag, or the type of the error."""
    try:
        return eval(READINGS[name], {"torch": torch, "os": os})  # noqa: S307 -- likewise
    except (AttributeError, RuntimeError) as error:
        return type(error)


def all_told() -> dict[str, object]:
    """Return torch's values of all flags."""
    return {name: told(name) for name in READINGS}


_THREADS = torch.get_num_threads()

_AS_TORCH_BEGINS = (
    "torch.set_default_device(None)",
    "torch.set_default_dtype(torch.float32)",
    "torch.use_deterministic_algorithms(False)",
    *(
        line
        for line in CHANGES
        if line.startswith("torch.backends.cuda.enable_") and "True" in line
    ),
    "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = True",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True",
    "torch.backends.cuda.matmul.allow_fp16_accumulation = False",
    "torch.utils.deterministic.fill_uninitialized_memory = True",
    *(line for line in CHANGES if "_inductor.config.numerics = 'default'" in line),
    *(line for line in CHANGES if "_inductor.config" in line and "False" in line),
    "torch.backends.cudnn.enabled = True",
    "torch.backends.cudnn.benchmark = False",
    "torch.backends.cudnn.deterministic = False",
    "torch.backends.mkldnn.enabled = True",
    "torch.backends.mkldnn.deterministic = False",
    "torch.set_float32_matmul_precision('highest')",
    *(line for line in CHANGES if line.endswith("fp32_precision = 'none'")),
    "torch.backends.mkldnn.set_flags(_fp32_precision='none')",
    "torch.backends.cudnn.allow_tf32 = True",
    "torch.set_grad_enabled(True)",
    "torch.set_autocast_enabled('cpu', False)",
    "torch.set_autocast_enabled('cuda', False)",
    "torch.set_autocast_dtype('cpu', torch.bfloat16)",
    "torch.set_autocast_dtype('cuda', torch.float16)",
    f"torch.set_num_threads({_THREADS})",
)


@contextmanager
def scratch() -> Iterator[None]:
    """Restore every setting and the environment after the block."""
    environment = {**os.environ}
    try:
        yield
    finally:
        change(*filter(_known, _AS_TORCH_BEGINS))
        os.environ.clear()
        os.environ.update(environment)
