"""What of a namespace is sent to engines, and how."""

from __future__ import annotations

import builtins
import math
import os
import threading
from types import FunctionType

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from ipytorchseed.cli import main
from ipytorchseed.cluster.packing import import_there, pack


def of_notebook(code, name):
    """Make a function or class as a cell does."""
    made = {"__name__": "__main__", "nn": torch.nn}
    exec(code, made)  # noqa: S102
    return made[name]


NAMESPACE = {
    "np": np,
    "F": torch.nn.functional,
    "sqrt": math.sqrt,
    "exp": np.exp,
    "Linear": torch.nn.Linear,
    "helper": of_notebook("def helper(): return 1", "helper"),
    "Plain": of_notebook("class Plain: size = 1", "Plain"),
    "Net": of_notebook("class Net(nn.Module):\n def __init__(self):\n  super().__init__()", "Net"),
    "lock": threading.Lock(),
    "net": torch.nn.Linear(2, 1),
    "array": np.arange(3.0),
    "data": b"bytes",
    "unread": 5,
    7: "no name",
}


def test_each_value_is_sent_as_it_can_be():
    """Modules and what is in them by name, code canned, the rest as one.

    The others are reported.
    """
    packed = pack(NAMESPACE, {*NAMESPACE} - {"unread", 7})
    assert packed.imports == {
        "np": "numpy",
        "F": "torch.nn.functional",
        "sqrt": "math:sqrt",
        "exp": "numpy:exp",
        "Linear": "torch.nn.modules.linear:Linear",
    }
    assert packed.code.keys() == {"helper", "Plain"}
    assert packed.values.keys() == {"net", "array", "data"}
    assert packed.left.keys() == {"Net", "lock"}
    assert "super()" in packed.left["Net"]
    assert isinstance(packed.code["helper"].get_object({}), FunctionType)


def test_what_cannot_be_imported_there_is_left_out():
    """The code that needs it says so."""
    paths = {"np": "numpy", "gone": "no_such_module", "sqrt": "math:sqrt", "odd": "math:gone"}
    assert import_there(paths) == {"np": np, "sqrt": math.sqrt}


def test_without_ipyparallel_it_says_what_to_install(monkeypatch, tmp_path):
    """In one line."""
    imported = builtins.__import__

    def refuse(name, *given, **more):
        if name == "ipyparallel":
            raise ImportError(name)
        return imported(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    path = tmp_path / "x.ipynb"
    path.write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(main, ["check", "--engines", os.fspath(path)])
    assert done.exit_code == 2
    assert '--engines needs ipyparallel: pip install "ipytorchseed[cluster]"' in done.stderr


@pytest.mark.parametrize("words", [["--engines"], ["--engines", "proof"]])
def test_a_profile_alone_is_no_notebook(words):
    """The notebook is missing, and nothing is asked of a cluster."""
    done = CliRunner().invoke(main, ["check", *words])
    assert done.exit_code == 2
    assert "Missing argument 'NOTEBOOK...'" in done.stderr
