"""Verdicts made by hand, one of each sort."""

from __future__ import annotations

from pathlib import Path

from ipytorchseed.checking.grading import Found
from ipytorchseed.checking.notebook import Cell
from ipytorchseed.checking.verdict import CellVerdict, Unreached, Verdict
from ipytorchseed.why.explanation import Cause, Change

IMPORTS = Cell(1, "a0", "import torch", count=1)
DRAW = Cell(2, "a1", "noise = torch.randn(3)\nnoise += 1", count=2)
SHOW = Cell(4, "a2", "print(noise)", count=3)
PUT = Cell(5, "a3", "total.index_put_((where,), ones, accumulate=True)", count=4)
LEFT_OUT = Cell(6, "a4", "train_for_a_week()", frozenset({"skip-execution"}))

UNSEEDED = Cause(
    "rng",
    "torch.cpu",
    "torch.cpu is not seeded before this cell, so it starts differently after every restart",
    fix="torch.manual_seed(42)",
)
INPUT = Cause("input", "noise", "In[2] made `noise` again: 3 of 3 numbers differ")

SOUND = CellVerdict(IMPORTS, Found.SAME, Found.SAME)
LATER = CellVerdict(
    DRAW,
    Found.SAME,
    Found.DIFFERENT,
    (Change("variable", "noise", "3 of 3 numbers differ, the first at index 0: 0.1 → 0.2"),),
    (UNSEEDED,),
)
SHOWN = CellVerdict(
    SHOW, Found.DIFFERENT, Found.SAME, (Change("stdout", "", "0.1 → 0.2"),), (INPUT,)
)
ALONE = CellVerdict(PUT, Found.DIFFERENT, Found.SAME, (Change("result", "", "7 → 8"),))
HELD = CellVerdict(
    PUT,
    Found.SAME,
    Found.DIFFERENT,
    (Change("variable", "figure", "_handle: 94187 → 95103"),),
)
SKIPPED = CellVerdict(LEFT_OUT, Found.SKIPPED, Found.SKIPPED)

REPEATS = Verdict(Path("notebooks/sound.ipynb"), (SOUND, SKIPPED), seconds=4.2)
DIFFERS = Verdict(Path("train.ipynb"), (SOUND, LATER, SHOWN, ALONE), seconds=61.04, line=40)
DOES_NOT_REPEAT = Verdict(Path("atomics.ipynb"), (SOUND, ALONE), seconds=5)
SILENT = Verdict(Path("silent.ipynb"), (SOUND, LATER, HELD), seconds=4)
STRICT = Verdict(Path("strict.ipynb"), (SOUND, HELD), strict=True, seconds=4)
HIDDEN = Verdict(
    Path("hidden.ipynb"),
    (SOUND, ALONE),
    seconds=4,
    unreached=Unreached(43, 80, "In[4] raises ValueError: no"),
)
UNSAFE = Verdict(Path("again.ipynb"), (SOUND, LATER, SHOWN, HELD), rerun=True, seconds=3)
SAFE = Verdict(Path("again, safely.ipynb"), (SOUND,), rerun=True, seconds=3)
BROKEN = Verdict(Path("torn.ipynb"), fault="not a notebook: invalid JSON, Expecting value: line 1")
DIED = Verdict(
    Path("dies.ipynb"),
    (SOUND, LATER, SHOWN),
    fault="the kernel died in In[4]: Killed",
    seconds=9,
    unreached=Unreached(1, 5, "the kernel died in In[4]: Killed"),
)
PROSE = Verdict(Path("prose.ipynb"), note="no code cells: there is nothing to run")

EACH = (
    REPEATS,
    DIFFERS,
    DOES_NOT_REPEAT,
    SILENT,
    STRICT,
    HIDDEN,
    UNSAFE,
    SAFE,
    BROKEN,
    DIED,
    PROSE,
)
