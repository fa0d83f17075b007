"""An edit that changes nothing is no cause where there is another; alone, it is named."""

from __future__ import annotations

import pytest

from tests.render.explanations import SHUFFLED, START, TRAINED, States, explain, number, run, states

WITHOUT_EFFECT = [
    ("import os\nimport sys\nos, sys", "import sys\nimport os\nos, sys"),
    ("import os, sys\nos, sys", "import os\nimport sys\nos, sys"),
    ("from math import e, pi\npi", "from math import pi\npi"),
    ("import numpy as np\nnp.e", "import json\nimport numpy as np\nnp.e"),
]

WITH_EFFECT = [
    ("import mine\nimport yours", "import yours\nimport mine"),
    ("from math import e\ne", "from numpy import e\ne"),
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
def test_the_order_of_imports_and_those_not_used_are_no_cause_beside_another(before, after):
    """Alone, they are: they may run code."""
    assert _kinds(before, after, TRAINED) == _kinds(after, before, TRAINED) == ["rng"]
    assert _kinds(before, after, START) == ["code"]


@pytest.mark.parametrize(("before", "after"), WITH_EFFECT)
def test_imports_that_act_otherwise_are_a_cause(before, after):
    """Of one name, the last counts; and what packages that nobody knows do, nobody knows."""
    assert _kinds(before, after, TRAINED) == _kinds(after, before, TRAINED) == ["code", "rng"]
