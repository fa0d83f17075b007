"""The flags that torch itself has, except those for float32 precision.

Reading or setting the flags of inductor, torch.compile's backend, does not import it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from operator import attrgetter
from typing import Any

from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.machine import Machine

_DOCS = "https://docs.pytorch.org/docs/stable/"
_NOTES = _DOCS + "notes/randomness.html"
_USE = _DOCS + "generated/torch.use_deterministic_algorithms.html"
_BACKENDS = _DOCS + "backends.html"
_NUMERICS = _DOCS + "notes/numerical_accuracy.html"


def _torch() -> Any:  # the module; its stubs lack half of what is read here
    import torch

    return torch


def attribute(path: str) -> dict[str, Any]:
    """Return the fields of a flag that is an attribute: ``backends.cudnn.benchmark``."""
    holder, _, last = path.rpartition(".")
    find, read = attrgetter(holder), attrgetter(path)
    return {
        "get": lambda: read(_torch()),
        "set": lambda value: setattr(find(_torch()), last, value),
    }


def _attribute_flag(path: str, **fields: Any) -> Flag:
    return Flag(name=f"torch.{path}", **attribute(path), **fields)


def functions(get: str, set_: str = "", *first: str) -> dict[str, Any]:
    """Return the fields of a flag that functions of torch read and set.

    Args:
        get: The function in torch that reads the value: ``is_autocast_enabled``.
        set_: The function in torch that sets the value; empty if there is none.
        first: The first arguments of both functions.
    """
    read = attrgetter(get)
    fields: dict[str, Any] = {"get": lambda: read(_torch())(*first)}
    if set_:
        write = attrgetter(set_)
        given = ", ".join([*(f'"{each}"' for each in first), "{}"])
        fields["set"] = lambda value: write(_torch())(*first, value)
        fields["statement"] = f"torch.{set_}({given})"
    return fields


def _has_cuda(machine: Machine) -> bool:
    return machine.cuda


# -- compiled code ---------------------------------------------------------------------------------

_INDUCTOR = "torch._inductor.config"

_STRICT = f"{_INDUCTOR}.numerics"

_CONFIG = "https://github.com/pytorch/pytorch/blob/main/torch/_inductor/config.py"


def _inductor_flag(
    path: str,
    why: str,
    source: str = _CONFIG,
    *,
    variable: str = "",
    default: object = False,
    **fields: Any,
) -> Flag:
    """Return the flag of a setting of inductor; ``wanted`` is any value by default.

    Args:
        path: The setting's name in inductor's module. If this torch has no such setting, its value
            is ``default``.
        why: One sentence: what the setting does.
        source: The address of the documentation.
        variable: The environment variable that sets the value when inductor is imported.
        default: The value without that variable: False, or a word.
        **fields: Further fields of ``Flag``.
    """
    find = attrgetter(path)

    def get() -> object:
        module = sys.modules.get(_INDUCTOR)
        if module is not None:
            try:
                return find(module)
            except AttributeError:
                return default
        told = os.environ.get(variable, "") if variable else ""
        return told == "1" if default is False else told or default

    def set_(value: Any) -> None:
        module = sys.modules.get(_INDUCTOR)
        if module is not None and get() != value:  # another setting may imply it
            holder, _, last = path.rpartition(".")
            with suppress(AttributeError):  # a torch that lacks it
                setattr(attrgetter(holder)(module) if holder else module, last, value)

    return Flag(name=f"{_INDUCTOR}.{path}", get=get, set=set_, why=why, source=source, **fields)


COMPILED: tuple[Flag, ...] = (  # numerics first: "strict" sets the four rows below
    _inductor_flag(
        "numerics",
        "Compiled code rounds in the fastest way or, with strict, rounds products, divisions and"
        " sums as eager code does.",
        variable="TORCHINDUCTOR_NUMERICS",
        default="default",
        applies=lambda machine: machine.torch >= (2, 14),
    ),
    _inductor_flag(
        "emulate_precision_casts",
        "Compiled code rounds bf16 and fp16 after each operation, as eager code does; implied by"
        " strict numerics.",
        variable="TORCHINDUCTOR_EMULATE_PRECISION_CASTS",
        changes_with=_STRICT,
    ),
    _inductor_flag(
        "eager_numerics.division_rounding",
        "Compiled code on GPU divides with correct rounding, as eager code does; implied by strict"
        " numerics.",
        variable="TORCHINDUCTOR_EMULATE_DIVISION_ROUNDING",
        changes_with=_STRICT,
        applies=lambda machine: machine.cuda or machine.xpu,
    ),
    _inductor_flag(
        "eager_numerics.disable_ftz",
        "If True, compiled code on GPU keeps subnormal numbers, as eager code does; if False, it"
        " may replace them by 0. Implied by strict numerics.",
        changes_with=_STRICT,
        applies=lambda machine: machine.cuda or machine.xpu,
    ),
    _inductor_flag(
        "eager_numerics.use_pytorch_libdevice",
        "If True, compiled code on GPU takes functions such as exp and erf from CUDA's library, as"
        " eager code does; if False, from Triton's.",
        applies=lambda machine: machine.cuda or machine.xpu,
    ),
    _inductor_flag(
        "batch_invariant",
        "If True, a sample's result in compiled code does not depend on the size of its batch; if"
        " False, the code is tuned to that size.",
        variable="TORCHINDUCTOR_BATCH_INVARIANT",
    ),
    _inductor_flag(
        "fallback_random",
        "If True, compiled code draws random numbers as eager code does; if False, in its own way."
        " Both repeat, with different numbers.",
        "https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/torch.compiler_faq.html",
    ),
)

# -- deterministic algorithms ----------------------------------------------------------------------


def _use(**given: bool) -> None:
    torch = _torch()
    mode = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(**{"mode": mode, "warn_only": warn_only} | given)


ALGORITHMS: tuple[Flag, ...] = (  # in this order: each setter also writes the rows below it
    Flag(
        name="torch.use_deterministic_algorithms",
        **functions("are_deterministic_algorithms_enabled"),
        set=lambda value: _use(mode=value),
        statement="torch.use_deterministic_algorithms({})",
        wanted=lambda _: True,
        why="Operations use a deterministic algorithm, or raise if there is none.",
        source=_USE,
        risk="operations may add numbers in a different order each time (many on a GPU; on CPU"
        " index_put_ and put_ with accumulate=True)",
    ),
    Flag(
        name="torch.use_deterministic_algorithms.warn_only",
        **functions("is_deterministic_algorithms_warn_only_enabled"),
        set=lambda value: _use(warn_only=value),
        statement="",
        wanted=lambda _: False,
        why="If torch only warns, the operation runs and may not repeat; flash and"
        " memory-efficient attention stay nondeterministic in backward.",
        source=_USE,
        risk="operations without a deterministic algorithm only warn",
    ),
    _inductor_flag(
        "deterministic",
        variable="TORCHINDUCTOR_DETERMINISTIC",
        changes_with="torch.use_deterministic_algorithms",
        wanted=lambda machine: True if machine.torch >= (2, 10) else ANY,
        why="Compiled code does not choose kernels by timing, which varies. Since torch 2.10,"
        " use_deterministic_algorithms sets it too; set_deterministic_debug_mode does not.",
        source=_USE,
        risk="torch.compile may choose kernels by timing",
    ),
    _attribute_flag(
        "utils.deterministic.fill_uninitialized_memory",
        wanted=lambda _: True,
        why="Under deterministic algorithms, torch.empty is filled with NaN or the largest"
        " integer, so that reading unwritten memory repeats.",
        source=_DOCS + "deterministic.html",
        risk="torch.empty may show what memory held before",
    ),
)

# -- libraries below torch -------------------------------------------------------------------------

LIBRARIES: tuple[Flag, ...] = (
    _attribute_flag(
        "backends.cudnn.enabled",
        applies=_has_cuda,
        why="Convolutions and RNNs on GPU run in cuDNN, or in torch's own kernels with other"
        " rounding.",
        source=_BACKENDS,
    ),
    _attribute_flag(
        "backends.cudnn.benchmark",
        wanted=lambda _: False,
        applies=_has_cuda,
        why="cuDNN times its algorithms and keeps the fastest. Timings vary, so the choice can"
        " differ between processes.",
        source=_NOTES,
        risk="cuDNN may choose a different algorithm in each process",
    ),
    _attribute_flag(
        "backends.cudnn.deterministic",
        wanted=lambda _: True,
        applies=_has_cuda,
        why="cuDNN is limited to deterministic algorithms; implied for convolutions by"
        " deterministic algorithms.",
        source=_NOTES,
        risk="cuDNN may use algorithms that add numbers in any order",
    ),
    _attribute_flag(
        "backends.mkldnn.deterministic",
        wanted=lambda machine: True if machine.xpu else ANY,
        applies=lambda machine: machine.xpu,
        why="oneDNN is limited to deterministic kernels on Intel GPUs.",
        source="https://github.com/pytorch/pytorch/pull/127379",
        risk="oneDNN may use kernels that add numbers in any order",
    ),
    _attribute_flag(
        "backends.mkldnn.enabled",
        why="Convolutions and matrix products on CPU run in oneDNN, or in torch's own kernels"
        " with other rounding.",
        source=_BACKENDS,
    ),
)

# -- smaller types and attention -------------------------------------------------------------------


def _reduction(kind: str) -> Flag:
    """Return the flag ``allow_fp16_reduced_precision_reduction``, or that for bf16.

    Since torch 2.10, the value is a pair.
    """
    name = f"allow_{kind}_reduced_precision_reduction"

    def get() -> object:
        matmul = _torch().backends.cuda.matmul
        value, split = getattr(matmul, name), getattr(matmul, f"{name}_split_k", None)
        return value if split is None else (value, split)

    return Flag(
        name=f"torch.backends.cuda.matmul.{name}",
        get=get,
        set=lambda value: setattr(_torch().backends.cuda.matmul, name, value),
        applies=_has_cuda,
        why=f"Matrix products of {kind} may add up partial sums in {kind} (second value: with"
        " split-k).",
        source=_NUMERICS,
    )


def _attention(label: str, get: str, set_: str) -> Flag:
    return Flag(
        name=f"torch.backends.cuda.{get}",
        **functions(f"backends.cuda.{get}", f"backends.cuda.{set_}"),
        why=f"Attention may run in the {label} kernel, whose rounding differs from the others'.",
        source=_DOCS + "generated/torch.nn.functional.scaled_dot_product_attention.html",
    )


NUMBERS: tuple[Flag, ...] = (
    _reduction("fp16"),
    _reduction("bf16"),
    _attribute_flag(
        "backends.cuda.matmul.allow_fp16_accumulation",
        applies=lambda machine: machine.torch >= (2, 7) and machine.cuda,
        why="Matrix products of fp16 may be accumulated in fp16.",
        source=_NUMERICS,
    ),
    _attention("flash", "flash_sdp_enabled", "enable_flash_sdp"),
    _attention("memory-efficient", "mem_efficient_sdp_enabled", "enable_mem_efficient_sdp"),
    _attention("plain", "math_sdp_enabled", "enable_math_sdp"),
    _attention("cuDNN", "cudnn_sdp_enabled", "enable_cudnn_sdp"),
    _attention(
        "reduced-precision plain",
        "fp16_bf16_reduction_math_sdp_allowed",
        "allow_fp16_bf16_reduction_math_sdp",
    ),
)

# -- modes and threads -----------------------------------------------------------------------------


def _default_device() -> object:
    """Return the default device, without starting CUDA.

    torch's own getter starts CUDA to find the index of a CUDA device without one.
    """
    context = getattr(_torch()._GLOBAL_DEVICE_CONTEXT, "device_context", None)  # noqa: SLF001
    return None if context is None else context.device


def _autocast(device: str, what: str, get: str, why: str) -> Flag:
    return Flag(
        name=f"torch.autocast.{device}.{what}",
        **functions(get, f"set_autocast_{what}", device),
        why=f"{why} {device}.",
        source=_DOCS + "amp.html",
    )


MODES: tuple[Flag, ...] = (
    Flag(
        name="torch.default_dtype",
        **functions("get_default_dtype", "set_default_dtype"),
        why="New floating-point tensors have this type.",
        source=_DOCS + "generated/torch.set_default_dtype.html",
    ),
    Flag(
        name="torch.default_device",
        **functions("get_default_device", "set_default_device") | {"get": _default_device},
        why="New tensors are created on this device and draw from its generator; if it is not set,"
        " on the CPU.",
        source=_DOCS + "generated/torch.set_default_device.html",
    ),
    Flag(
        name="torch.grad_enabled",
        **functions("is_grad_enabled", "set_grad_enabled"),
        why="If off, nothing is recorded for backward, and some operations use other algorithms.",
        source=_DOCS + "notes/autograd.html",
    ),
    Flag(
        name="torch.inference_mode_enabled",
        **functions("is_inference_mode_enabled"),
        why="Like disabled gradients, but only for a block of code.",
        source=_DOCS + "notes/autograd.html",
    ),
    *(
        _autocast(device, *row)
        for device in ("cpu", "cuda")
        for row in (
            ("enabled", "is_autocast_enabled", "Operations may run in a smaller type on"),
            ("dtype", "get_autocast_dtype", "The smaller type that autocast uses on"),
        )
    ),
    Flag(
        name="torch.num_threads",
        **functions("get_num_threads", "set_num_threads"),
        why="Sums and matrix products on CPU are split among this many threads; another number"
        " rounds differently.",
        source=_DOCS + "notes/cpu_threading_torchscript_inference.html",
    ),
    Flag(
        name="torch.num_interop_threads",
        **functions("get_num_interop_threads"),
        late=lambda _: "torch lets it be set once, before any parallel work",
        why="Independent operations may run on this many threads.",
        source=_DOCS + "notes/cpu_threading_torchscript_inference.html",
    ),
)
