"""Describes the state of a kernel as text: variables, sources, flags, environment."""

from __future__ import annotations

import os
import random
import re
import sys
import warnings
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.table import read_flags
from ipytorchseed.fingerprint import Budget, Memo, fingerprint

# Names under which the shell stores inputs. These include the command that is tested.
_OF_THE_SHELL = re.compile(r"_i+\d*|_ih|In|__\w+__")

# A longer text is replaced by its digest.
_LONG = 1000


def look(namespace: dict[str, Any]) -> dict[str, str]:
    """Return descriptions of a kernel's state, by place. Nothing is drawn or imported."""
    memo = Memo()
    found = {
        f"name {name}": f"{id(value)} {_digest(value, memo)}"
        for name, value in list(namespace.items())
        if not _OF_THE_SHELL.fullmatch(name)
    }
    found["order"] = " ".join(name for name in namespace if not _OF_THE_SHELL.fullmatch(name))
    found["python"] = str(random.getstate())
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found["numpy"] = str(numpy.random.get_state(legacy=False))
        found["printed"] = f"{numpy.get_printoptions()} {numpy.geterr()}"
    if torch is not None:
        found["torch"] = str(torch.get_rng_state().tolist())
        found["torch printed"] = str(vars(torch._tensor_str.PRINT_OPTS))
        found |= {f"flag {name}": str(value) for name, value in read_flags().items()}
    found |= {f"variable {name}": value for name, value in os.environ.items()}
    found["folder"] = os.getcwd()  # noqa: PTH109 -- compared as a string
    found["warnings"] = str(warnings.filters)
    found["limit"] = str(sys.getrecursionlimit())
    return {
        name: each if len(each) < _LONG else xxh3_64_hexdigest(each.encode())
        for name, each in found.items()
    }


def _digest(value: object, memo: Memo) -> str:
    seen = fingerprint(value, memo=memo, budget=Budget(float("inf")))
    return f"{seen.digest} {dict(seen.parts)}"
