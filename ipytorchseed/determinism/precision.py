"""The float32 precision settings: nine keys, and three older names for them.

torch has a table of precisions by backend and operation; the value ``none`` inherits from the level
above. It stores the older settings (``set_float32_matmul_precision``, ``allow_tf32``) separately,
and setting one also writes to the table. Writing to the table may make an older setting unreadable:
torch raises a RuntimeError because the two disagree (torch 2.9, aten/src/ATen/Context.cpp). So the
flags are read one by one, and restored together.
"""

from __future__ import annotations

from collections.abc import Mapping

from ipytorchseed.determinism.flag import Flag, Unreadable
from ipytorchseed.determinism.torch_flags import attribute, functions, has_cuda

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

    return torch._C._get_fp32_precision_getter(*key)  # noqa: SLF001 -- no public way for mkldnn


def _write(key: tuple[str, str], value: str) -> None:
    import torch

    torch._C._set_fp32_precision_setter(*key, value)  # noqa: SLF001


def _key_flag(name: str, key: tuple[str, str]) -> Flag:
    backend, operation = key
    what = _WHAT[operation]
    where = {"generic": "everywhere", "cuda": "on NVIDIA GPUs", "mkldnn": "in oneDNN"}[backend]
    why = f"The precision of float32 {what} {where}; `none` inherits that of the level above."
    return Flag(name, lambda: _read(key), why, _SOURCE, lambda value: _write(key, value),
        applies=lambda machine: machine.torch >= (2, 9) and (backend != "cuda" or machine.cuda),
        changes_with=_MATMUL if operation == "matmul" else "")  # fmt: skip


_OLDER = (
    " in float32 may round their input to fewer bits; this is the older form of fp32_precision."
)

_products = functions("float32_matmul_precision", "get_float32_matmul_precision",
    "set_float32_matmul_precision", f"Matrix products{_OLDER}", _SOURCE)  # fmt: skip
_gpu = attribute("backends.cuda.matmul.allow_tf32", f"Matrix products on GPU{_OLDER}", _SOURCE,
    applies=has_cuda, changes_with=_MATMUL)  # fmt: skip
_cudnn = attribute("backends.cudnn.allow_tf32", f"Convolutions and RNNs on GPU{_OLDER}", _SOURCE,
    applies=has_cuda)  # fmt: skip

FLAGS = _products, _gpu, _cudnn, *(_key_flag(name, key) for name, key in _KEYS.items())

# The older settings: the flags that read the setting, the values that the first flag can have, and
# the keys of the table that setting the first flag also changes.
_OLD_SETTINGS: tuple[tuple[tuple[Flag, ...], tuple[object, ...], set[tuple[str, str]]], ...] = (
    ((_products, _gpu), ("highest", "high", "medium"), {("cuda", "matmul"), ("mkldnn", "matmul")}),
    ((_cudnn,), (True, False), {("cuda", "conv"), ("cuda", "rnn")}),
)


def restore(saved: Mapping[str, object]) -> None:
    """Restore all flags of this module to saved values.

    A flag that already has its value is not written: a key that inherits continues to inherit, and
    torch's default for cuDNN (tf32, unless a level above says otherwise) cannot be set by name.
    If the saved value of an older setting is unreadable, its values are tried one after the other.
    With the right one, its flags read as saved, and the unreadable ones are unreadable again.

    Args:
        saved: Values by name, from ``Flag.read``.
    """
    _put_keys(saved, set())
    for flags, values, written in _OLD_SETTINGS:
        first = saved[flags[0].name]
        for value in values if isinstance(first, Unreadable) else (first,):
            if all(flag.read() == saved[flag.name] for flag in flags):
                break
            flags[0].set(value)  # type: ignore[misc]  # it is not None
            _put_keys(saved, written)


def _put_keys(saved: Mapping[str, object], written: set[tuple[str, str]]) -> None:
    """Restore the keys that lack their values, and those in ``written``."""
    for name, key in _KEYS.items():
        value = saved[name]
        if isinstance(value, str) and (key in written or _read(key) != value):
            _write(key, "none")  # it then inherits, which may give its old value
            if _read(key) != value:
                _write(key, value)
