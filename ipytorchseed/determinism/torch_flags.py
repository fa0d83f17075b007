"""The flags that torch itself has, except those for float32 precision.

Reading or setting the flags of inductor, torch.compile's backend, does not import it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.machine import Machine

_DOCS = "https://docs.pytorch.org/docs/stable/"
_NOTES = _DOCS + "notes/randomness.html"
_USE = _DOCS + "generated/torch.use_deterministic_algorithms.html"
_BACKENDS = _DOCS + "backends.html"
_NUMERICS = _DOCS + "notes/numerical_accuracy.html"
_AUTOGRAD = _DOCS + "notes/autograd.html"
_THREADS = _DOCS + "notes/cpu_threading_torchscript_inference.html"


def _torch() -> Any:  # the module; its stubs lack half of what is read here
    import torch

    return torch


def attribute(path: str, why: str, source: str, **fields: Any) -> Flag:
    """Return the flag of an attribute of torch: ``backends.cudnn.benchmark``."""
    holder, _, last = path.rpartition(".")
    find, read = attrgetter(holder), attrgetter(path)

    def write(value: Any) -> None:
        setattr(find(_torch()), last, value)

    return Flag(f"torch.{path}", lambda: read(_torch()), why, source, write, **fields)


def functions(
    name: str, get: str, set_: str, why: str, source: str, *first: str, **fields: Any
) -> Flag:
    """Return the flag that functions of torch read and set.

    Args:
        name: The name of the flag without ``torch.``.
        get: The function in torch that reads the value: ``is_autocast_enabled``.
        set_: The function in torch that sets the value; empty if there is none.
        why: One sentence: what the flag does.
        source: The address of the documentation.
        first: The first arguments of both functions.
        **fields: Further fields of ``Flag``.
    """
    read = attrgetter(get)
    if set_:
        write = attrgetter(set_)
        given = ", ".join([*(f'"{each}"' for each in first), "{}"])
        fields = {
            "set": lambda value: write(_torch())(*first, value),
            "statement": f"torch.{set_}({given})",
            **fields,
        }
    return Flag(f"torch.{name}", lambda: read(_torch())(*first), why, source, **fields)


def has_cuda(machine: Machine) -> bool:
    """Return whether CUDA devices may be used."""
    return machine.cuda


def _has_gpu(machine: Machine) -> bool:
    return machine.cuda or machine.xpu


# -- compiled code ---------------------------------------------------------------------------------

_INDUCTOR = "torch._inductor.config"
_STRICT = f"{_INDUCTOR}.numerics"
_CONFIG = "https://github.com/pytorch/pytorch/blob/main/torch/_inductor/config.py"
_FAQ = f"{_DOCS}user_guide/torch_compiler/torch.compiler_faq.html"


def _inductor(
    path: str, why: str, source: str = _CONFIG, *, variable: str = "", **fields: Any
) -> Flag:
    """Return the flag of a setting of inductor; ``wanted`` is any value by default.

    Args:
        path: The setting's name in inductor's module. If this torch has no such setting, its value
            is that of an unset variable: False, or "default" for ``numerics``.
        why: One sentence: what the setting does.
        source: The address of the documentation.
        variable: The environment variable that sets the value when inductor is imported, without
            ``TORCHINDUCTOR_``.
        **fields: Further fields of ``Flag``.
    """
    default = "default" if path == "numerics" else False

    def get() -> object:
        module = sys.modules.get(_INDUCTOR)
        if module is not None:
            return getattr(module, path, default)  # inductor accepts names with dots
        told = os.environ.get(f"TORCHINDUCTOR_{variable}", "")
        return told == "1" if default is False else told or default

    def write(value: Any) -> None:
        module = sys.modules.get(_INDUCTOR)
        if module is not None and get() != value:  # another setting may imply it
            with suppress(AttributeError):  # a torch that lacks it
                setattr(module, path, value)

    return Flag(f"{_INDUCTOR}.{path}", get, why, source, write, **fields)


COMPILED: tuple[Flag, ...] = (  # numerics first: "strict" sets the four rows below
    _inductor("numerics",
        "Compiled code rounds in the fastest way or, with strict, rounds products, divisions and"
        " sums as eager code does.",
        variable="NUMERICS", applies=lambda machine: machine.torch >= (2, 14)),
    _inductor("emulate_precision_casts",
        "Compiled code rounds bf16 and fp16 after each operation, as eager code does; implied by"
        " strict numerics.",
        variable="EMULATE_PRECISION_CASTS", changes_with=_STRICT),
    _inductor("eager_numerics.division_rounding",
        "Compiled code on GPU divides with correct rounding, as eager code does; implied by strict"
        " numerics.",
        variable="EMULATE_DIVISION_ROUNDING", changes_with=_STRICT, applies=_has_gpu),
    _inductor("eager_numerics.disable_ftz",
        "If True, compiled code on GPU keeps subnormal numbers, as eager code does; if False, it"
        " may replace them by 0. Implied by strict numerics.",
        changes_with=_STRICT, applies=_has_gpu),
    _inductor("eager_numerics.use_pytorch_libdevice",
        "If True, compiled code on GPU takes functions such as exp and erf from CUDA's library, as"
        " eager code does; if False, from Triton's.",
        applies=_has_gpu),
    _inductor("batch_invariant",
        "If True, a sample's result in compiled code does not depend on the size of its batch; if"
        " False, the code is tuned to that size.",
        variable="BATCH_INVARIANT"),
    _inductor("fallback_random",
        "If True, compiled code draws random numbers as eager code does; if False, in its own way."
        " Both repeat, with different numbers.", _FAQ),
)  # fmt: skip

# -- deterministic algorithms ----------------------------------------------------------------------


def _use(**given: bool) -> None:
    torch = _torch()
    mode = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(**{"mode": mode, "warn_only": warn_only} | given)


ALGORITHMS: tuple[Flag, ...] = (  # in this order: each setter also writes the rows below it
    functions("use_deterministic_algorithms", "are_deterministic_algorithms_enabled", "",
        "Operations use a deterministic algorithm, or raise if there is none.", _USE,
        set=lambda value: _use(mode=value),
        statement="torch.use_deterministic_algorithms({})",
        wanted=lambda _: True,
        risk="operations may add numbers in a different order each time (many on a GPU;"
        " index_put_ and put_ with accumulate=True on a CPU)"),
    functions("use_deterministic_algorithms.warn_only",
        "is_deterministic_algorithms_warn_only_enabled", "",
        "If torch only warns, the operation runs and may not repeat; flash and"
        " memory-efficient attention stay nondeterministic in backward.", _USE,
        set=lambda value: _use(warn_only=value),
        statement="",
        wanted=lambda _: False,
        risk="operations without a deterministic algorithm give a warning, not an error"),
    _inductor("deterministic",
        "Compiled code does not choose kernels by timing, which varies. Since torch 2.10,"
        " use_deterministic_algorithms sets it too; set_deterministic_debug_mode does not.", _USE,
        variable="DETERMINISTIC",
        changes_with="torch.use_deterministic_algorithms",
        wanted=lambda machine: True if machine.torch >= (2, 10) else ANY,
        risk="torch.compile may choose kernels by timing"),
    attribute("utils.deterministic.fill_uninitialized_memory",
        "Under deterministic algorithms, torch.empty is filled with NaN or the largest"
        " integer, so that code that reads it before writing repeats.",
        f"{_DOCS}deterministic.html",
        wanted=lambda _: True,
        risk="torch.empty may show what memory held before"),
)  # fmt: skip

# -- libraries below torch -------------------------------------------------------------------------

LIBRARIES: tuple[Flag, ...] = (
    attribute("backends.cudnn.enabled",
        "Convolutions and RNNs on GPU run in cuDNN, or in torch's own kernels with other"
        " rounding.", _BACKENDS, applies=has_cuda),
    attribute("backends.cudnn.benchmark",
        "cuDNN times its algorithms and keeps the fastest. Timings vary, so the choice can"
        " differ between processes.", _NOTES, applies=has_cuda,
        wanted=lambda _: False,
        risk="cuDNN may choose a different algorithm in each process"),
    attribute("backends.cudnn.deterministic",
        "cuDNN is limited to deterministic algorithms. For convolutions,"
        " torch.use_deterministic_algorithms already does this.", _NOTES, applies=has_cuda,
        wanted=lambda _: True,
        risk="cuDNN may use algorithms that add numbers in any order"),
    attribute("backends.mkldnn.deterministic",
        "oneDNN is limited to deterministic kernels on Intel GPUs.",
        "https://github.com/pytorch/pytorch/pull/127379", applies=lambda machine: machine.xpu,
        wanted=lambda machine: True if machine.xpu else ANY,
        risk="oneDNN may use kernels that add numbers in any order"),
    attribute("backends.mkldnn.enabled",
        "Convolutions and matrix products on CPU run in oneDNN, or in torch's own kernels"
        " with other rounding.", _BACKENDS),
)  # fmt: skip

# -- smaller types and attention -------------------------------------------------------------------


def _reduction(kind: str) -> Flag:
    """Return the flag ``allow_fp16_reduced_precision_reduction``, or that for bf16.

    Since torch 2.10, the value is a pair.
    """
    name = f"allow_{kind}_reduced_precision_reduction"
    flag = attribute(
        f"backends.cuda.matmul.{name}",
        f"Matrix products of {kind} may add up partial sums in {kind} (second value: with"
        " split-k).",
        _NUMERICS,
        applies=has_cuda,
    )

    def get() -> object:
        value = flag.get()
        split = getattr(_torch().backends.cuda.matmul, f"{name}_split_k", None)
        return value if split is None else (value, split)

    return replace(flag, get=get)


def _attention(label: str, get: str, set_: str) -> Flag:
    name = f"backends.cuda.{get}"
    why = f"Attention may run in the {label} kernel, whose rounding differs from the others'."
    source = f"{_DOCS}generated/torch.nn.functional.scaled_dot_product_attention.html"
    return functions(name, name, f"backends.cuda.{set_}", why, source)


NUMBERS: tuple[Flag, ...] = (
    _reduction("fp16"),
    _reduction("bf16"),
    attribute("backends.cuda.matmul.allow_fp16_accumulation",
        "Matrix products of fp16 may be accumulated in fp16.", _NUMERICS,
        applies=lambda machine: machine.torch >= (2, 7) and machine.cuda),
    _attention("flash", "flash_sdp_enabled", "enable_flash_sdp"),
    _attention("memory-efficient", "mem_efficient_sdp_enabled", "enable_mem_efficient_sdp"),
    _attention("plain", "math_sdp_enabled", "enable_math_sdp"),
    _attention("cuDNN", "cudnn_sdp_enabled", "enable_cudnn_sdp"),
    _attention("reduced-precision plain", "fp16_bf16_reduction_math_sdp_allowed",
        "allow_fp16_bf16_reduction_math_sdp"),
)  # fmt: skip

# -- modes and threads -----------------------------------------------------------------------------


def _default_device() -> object:
    """Return the default device, without starting CUDA.

    torch's own getter starts CUDA to find the index of a CUDA device without one.
    """
    context = getattr(_torch()._GLOBAL_DEVICE_CONTEXT, "device_context", None)  # noqa: SLF001
    return None if context is None else context.device


def _autocast(device: str, what: str, get: str, why: str) -> Flag:
    name, set_ = f"autocast.{device}.{what}", f"set_autocast_{what}"
    return functions(name, get, set_, f"{why} {device}.", f"{_DOCS}amp.html", device)


MODES: tuple[Flag, ...] = (
    functions("default_dtype", "get_default_dtype", "set_default_dtype",
        "New floating-point tensors have this type.",
        f"{_DOCS}generated/torch.set_default_dtype.html"),
    replace(functions("default_device", "get_default_device", "set_default_device",
        "New tensors are created on this device (if not set, on the CPU) and draw from its"
        " generator.", f"{_DOCS}generated/torch.set_default_device.html"), get=_default_device),
    functions("grad_enabled", "is_grad_enabled", "set_grad_enabled",
        "If off, nothing is recorded for backward, and some operations use other algorithms.",
        _AUTOGRAD),
    functions("inference_mode_enabled", "is_inference_mode_enabled", "",
        "Like disabled gradients, but only for a block of code.", _AUTOGRAD),
    *(
        _autocast(device, *row)
        for device in ("cpu", "cuda")
        for row in (
            ("enabled", "is_autocast_enabled", "Operations may run in a smaller type on"),
            ("dtype", "get_autocast_dtype", "The smaller type that autocast uses on"),
        )
    ),
    functions("num_threads", "get_num_threads", "set_num_threads",
        "Sums and matrix products on CPU are split among this many threads; a different"
        " thread count rounds differently.", _THREADS),
    functions("num_interop_threads", "get_num_interop_threads", "",
        "Independent operations may run on this many threads.", _THREADS,
        late=lambda _: "torch lets it be set once, before any parallel work"),
)  # fmt: skip
