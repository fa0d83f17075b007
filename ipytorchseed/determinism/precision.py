"""The float32 precision settings: nine keys, and three older names for them.

torch keeps a table of precisions by backend and operation, in which ``none`` inherits. It also
keeps the state of the older settings (``set_float32_matmul_precision``, ``allow_tf32``). Setting
an older one writes both. Setting a new one may make the older one unreadable: torch then raises a
RuntimeError because they disagree (torch 2.9, aten/src/ATen/Context.cpp). So rows are read one by
one. The state of an older setting that could not be read is not restored; the table decides.
"""

from __future__ import annotations

from typing import Any

from ipytorchseed.determinism.flag import Flag
from ipytorchseed.determinism.torch_flags import attribute, functions

_SOURCE = "https://docs.pytorch.org/docs/stable/notes/cuda.html#tf32-on-ampere"

_KEYS: dict[str, tuple[str, str]] = {  # parents first
    "torch.backends.fp32_precision": ("generic", "all"),
    "torch.backends.cudnn.fp32_precision": ("cuda", "all"),
    "torch.backends.mkldnn.fp32_precision": ("mkldnn", "all"),
    "torch.backends.cuda.matmul.fp32_precision": ("cuda", "matmul"),
    "torch.backends.cudnn.conv.fp32_precision": ("cuda", "conv"),
    "torch.backends.cudnn.rnn.fp32_precision": ("cuda", "rnn"),
    "torch.backends.mkldnn.matmul.fp32_precision": ("mkldnn", "matmul"),
    "torch.backends.mkldnn.conv.fp32_precision": ("mkldnn", "conv"),
    "torch.backends.mkldnn.rnn.fp32_precision": ("mkldnn", "rnn"),
}
_WHAT = {"all": "operations", "matmul": "matrix products", "conv": "convolutions", "rnn": "RNNs"}
_MATMUL = "torch.float32_matmul_precision"


def _read(key: tuple[str, str]) -> str:
    import torch

    return torch._C._get_fp32_precision_getter(*key)  # noqa: SLF001 -- no other way to mkldnn's


def _write(key: tuple[str, str], value: str) -> None:
    """Make a key inherit if that gives the value; else write it.

    So a key that inherited does so again, and torch's default for cuDNN (tf32, unless a level above
    says otherwise), which cannot be set by name, comes back.
    """
    import torch

    for each in ("none", value):
        if _read(key) != value:
            torch._C._set_fp32_precision_setter(*key, each)  # noqa: SLF001


def _key_flag(name: str, key: tuple[str, str]) -> Flag:
    backend, operation = key
    what = _WHAT[operation]
    where = {"generic": "everywhere", "cuda": "on NVIDIA GPUs", "mkldnn": "in oneDNN"}[backend]
    return Flag(
        name=name,
        get=lambda: _read(key),
        set=lambda value: _write(key, value),
        applies=lambda machine: machine.torch >= (2, 9) and (backend != "cuda" or machine.cuda),
        why=f"The precision in which float32 {what} compute {where}; `none` is as the level above.",
        source=_SOURCE,
        follows=_MATMUL if operation == "matmul" else "",
    )


def _old_flag(name: str, what: str, *, cuda: bool, **fields: Any) -> Flag:
    return Flag(
        name=name,
        applies=(lambda machine: machine.cuda) if cuda else (lambda _: True),
        why=f"{what} in float32 may round their input to fewer bits; an older setting for"
        " fp32_precision.",
        source=_SOURCE,
        **fields,
    )


FLAGS: tuple[Flag, ...] = (  # older names last: most are right again once the keys are restored
    *(_key_flag(name, key) for name, key in _KEYS.items()),
    _old_flag(
        _MATMUL,
        "Matrix products",
        cuda=False,
        **functions("get_float32_matmul_precision", "set_float32_matmul_precision"),
    ),
    _old_flag(
        "torch.backends.cuda.matmul.allow_tf32",
        "Matrix products on GPU",
        cuda=True,
        follows=_MATMUL,
        **attribute("backends.cuda.matmul.allow_tf32"),
    ),
    _old_flag(
        "torch.backends.cudnn.allow_tf32",
        "Convolutions and RNNs on GPU",
        cuda=True,
        **attribute("backends.cudnn.allow_tf32"),
    ),
)
