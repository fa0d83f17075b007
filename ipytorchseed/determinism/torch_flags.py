"""The flags that torch itself has, except those for float32 precision."""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.inductor_flags import inductor_flag
from ipytorchseed.determinism.machine import Machine

_DOCS = "https://docs.pytorch.org/docs/stable/"
_NOTES = _DOCS + "notes/randomness.html"
_USE = _DOCS + "generated/torch.use_deterministic_algorithms.html"
_BACKENDS = _DOCS + "backends.html"
_NUMERICS = _DOCS + "notes/numerical_accuracy.html"


def _torch() -> Any:  # the module; its stubs lack half of what is read here
    torch = sys.modules.get("torch")
    if torch is None:
        import torch
    return torch


def attribute(path: str) -> dict[str, Any]:
    """Return fields of a flag that is an attribute, as ``backends.cudnn.benchmark``."""
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
    inductor_flag(
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
        try:
            return getattr(matmul, name), getattr(matmul, f"{name}_split_k")
        except AttributeError:
            return getattr(matmul, name)

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


def _autocast(device: str) -> tuple[Flag, Flag]:
    return (
        Flag(
            name=f"torch.autocast.{device}.enabled",
            **functions("is_autocast_enabled", "set_autocast_enabled", device),
            why=f"Operations on {device} may run in a smaller type.",
            source=_DOCS + "amp.html",
        ),
        Flag(
            name=f"torch.autocast.{device}.dtype",
            **functions("get_autocast_dtype", "set_autocast_dtype", device),
            why=f"The smaller type that autocast uses on {device}.",
            source=_DOCS + "amp.html",
        ),
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
    *_autocast("cpu"),
    *_autocast("cuda"),
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
