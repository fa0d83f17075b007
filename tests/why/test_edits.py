"""An edit that changes nothing is no cause where there is another; alone, it is named."""

from __future__ import annotations

import pytest

from tests.render.explanations import SHUFFLED, START, TRAINED, States, explain, number, run, states

WITHOUT_EFFECT = [
    ("def f(x):\n    return x", "def f(x: int) -> 'int':\n    'Return it.'\n    return x"),
    ("class A:\n    def f(self): pass", "class A:\n    def f(self) -> None:\n        'No.'\n        pass"),
    ("x = 3", "x: int = 3"),
    ("import os\nimport sys\nos, sys", "import sys\nimport os\nos, sys"),
    ("import os, sys\nos, sys", "import os\nimport sys\nos, sys"),
    ("from math import e, pi\npi", "from math import pi\npi"),
    ("def f(x): return x\ny = f(3)", "def f(x: int): return x\ny = f(3)"),
    ("def f(x): return x", "from typing import List\ndef f(x: List[int]): return x"),
]  # fmt: skip

WITH_EFFECT = [
    ("x: int", "x: float"),
    ("class A:\n    x = 3", "class A:\n    x: int = 3"),
    ("@g\ndef f(x): return x", "@g\ndef f(x: int): return x"),
    ("def f(x): return x\nsignature(f)", "def f(x: int): return x\nsignature(f)"),
    ("def f(x):\n    'a'\nf.__doc__", "def f(x):\n    'b'\nf.__doc__"),
    ("x: int = 3\n__annotations__", "x: float = 3\n__annotations__"),
    ("@g\ndef f(x): return x", "@g\ndef f(x):\n    'It.'\n    return x"),
    ("def f(x): return x", "def f(x=1): return x"),
    ("'a'", "'b'"),
    ("def f():\n    return 'a'", "def f():\n    'a'"),
    ("import mine\nimport yours", "import yours\nimport mine"),
    ("import math as m\nimport numpy as m\nm.e", "import numpy as m\nimport math as m\nm.e"),
    ("from math import *\nfrom numpy import *\ne", "from numpy import *\nfrom math import *\ne"),
]


def _kinds(before, after, began):
    runs = [
        run(1, before, cell="c", writes={"y": number(1.0)}, **states(START, TRAINED)),
        run(2, after, cell="c", writes={"y": number(2.0)}, **states(began, SHUFFLED)),
    ]
    return [cause.kind for cause in explain(runs[1], runs[0], runs[:1], States(runs)).causes]


@pytest.mark.parametrize(("before", "after"), WITHOUT_EFFECT)
def test_hints_docstrings_and_the_order_of_imports_are_no_cause_beside_another(before, after):
    """Alone, they are: something may look at them."""
    assert _kinds(before, after, TRAINED) == _kinds(after, before, TRAINED) == ["rng"]
    assert _kinds(before, after, START) == ["code"]


@pytest.mark.parametrize(("before", "after"), WITH_EFFECT)
def test_what_other_code_may_heed_is_a_cause(before, after):
    """Fields of classes, what decorators are given, and packages that nobody knows."""
    assert _kinds(before, after, TRAINED) == _kinds(after, before, TRAINED) == ["code", "rng"]
