"""Reads the state of a kernel from inside it, with the libraries' own functions."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import sys
import types
import warnings
from typing import Any

# Types whose objects the interpreter shares, so that counting references is pointless.
_UNCOUNTED = (types.ModuleType, type(None), bool, int, float, str, bytes)


def kernel_now(shell: Any) -> dict[str, object]:
    """Return everything that recording must not change, as literals by name."""
    names = shell.user_ns
    found: dict[str, object] = {
        "python": _short(repr(random.getstate())),
        "names": sorted(name for name in names if not name.startswith(("_i", "_dh"))),
        "In": len(names["In"]),
        "Out": sorted(names["Out"]),
        "_": [type(names[name]).__name__ for name in ("_", "__", "___")],
        "references": references(names),
        "filters": repr(warnings.filters),
        "showwarning": repr(warnings.showwarning).partition(" at ")[0],
        "gc": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
        "garbage": len(gc.garbage),
        "trace": (repr(sys.gettrace()), repr(sys.getprofile())),
        "threads": sorted(type(t).__name__ for t in __import__("threading").enumerate()),
        "environment": sorted(os.environ),
        "heavy": sorted({"torch", "pandas", "matplotlib"} & {*sys.modules}),
    }
    if "numpy" in sys.modules:
        import numpy as np

        state = np.random.get_state(legacy=False)
        found["numpy"] = _short(json.dumps(state, default=np.ndarray.tolist))
        found["errors of numpy"] = repr(np.geterr())
    if "torch" in sys.modules:
        found |= _torch(names)
    return found


def references(names: dict[str, Any]) -> dict[str, int]:
    """Count the references to each user object, without garbage."""
    gc.collect()
    return {
        name: sys.getrefcount(names[name])
        for name in list(names)
        if name[:1] != "_" and name not in ("In", "Out", "exit", "quit", "get_ipython", "open")
        if not isinstance(names[name], _UNCOUNTED)
    }


def _torch(names: dict[str, Any]) -> dict[str, object]:
    import torch

    from ipytorchseed.determinism.table import read_flags

    tensors = {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}
    return {
        "torch.cpu": _short(torch.get_rng_state().numpy().tobytes()),
        "flags": repr(read_flags()),
        "cuda": torch.cuda.is_initialized(),
        "versions": {
            name: each._version for name, each in tensors.items() if not each.is_inference()
        },
        "grads": {name: each.grad is None for name, each in tensors.items() if each.is_leaf},
    }


def _short(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:12]
