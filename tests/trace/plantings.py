"""Small real trainings, and differences planted in them.

Run as a program, it records the originals.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import torch

import ipytorchseed  # noqa: F401 -- the training functions use it

MODELS = {
    "mlp": "nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4))",
    "cnn": "nn.Sequential(nn.Unflatten(1, (1, 8)), nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4),"
    " nn.GELU(), nn.Flatten(), nn.Linear(24, 4))",
    "attention": "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)",
}

TRAINING = """\
import numpy as np
import torch
from torch import nn
import ipytorchseed as its
from tests.trace.plantings import hidden
torch.manual_seed(0)
model = MODEL
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
values = np.linspace(-1, 1, 64, dtype="float32").reshape(8, 8)
data = torch.from_numpy(values)
bias, gain = torch.full((), 0.25), torch.full((), 1.501)
with its.trace(OUT, summaries=True):
    for step in range(STEPS):
        model.train()
        x = data + torch.rand(8, 8)  # draw
        a = x.sin()
        b = x.cos()
        y = model(a * b)
        y = y * 1.5
        y = y + 0.25  # shift
        y = hidden(y)  # hidden
        loss = (y ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()  # update
        model.eval()
        with torch.no_grad():
            for turn in range(3):
                model(data * (turn + 1)).sum()  # evaluate
"""

STEPS = 5

# The factor of ``hidden``, which is not an argument.
FACTOR = [1.0]


@torch.library.custom_op("ipytorchseed_tests::hidden", mutates_args=())
def hidden(x: torch.Tensor) -> torch.Tensor:
    """Return a different result for the same input if the factor was changed."""
    return x * FACTOR[0]


@hidden.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


torch.library.register_autograd(
    "ipytorchseed_tests::hidden", lambda _, grad: grad, setup_context=lambda *_, **__: None
)


class Planting(NamedTuple):
    """A difference.

    Attributes:
        edits: Texts and their replacements; AT is the step.
        kind: The kind of difference to be found; None if runs compute the same.
        mark: The comment on the line to be found, in B, or in A for ``only-a``.
    """

    edits: tuple[tuple[str, str], ...]
    kind: str | None
    mark: str = "# here"


def _edit(old: str, new: str, kind: str | None, mark: str = "# here") -> Planting:
    return Planting(((old, new),), kind, mark)


_CHANGED = ("        y = hidden(y)", "        import tests.trace.plantings as p\n"
            "        p.FACTOR[0] = 1.01 if step == AT else 1.0\n        y = hidden(y)")  # fmt: skip
_LONGER = ("range(3)", "range(5)")

PLANTINGS = {
    "extra operation": _edit(
        "        y = hidden(y)", "        if step == AT:\n            y = y * 1.001  # here\n        y = hidden(y)", "only-b",
    ),
    "missing operation": _edit("y = y + 0.25  # shift", "y = y if step == AT else y + 0.25  # shift", "only-a", "# shift"),
    "fused operations": _edit(
        "        y = y * 1.5\n        y = y + 0.25  # shift\n",
        "        y = torch.addcmul(bias, y, gain)  # here\n", "replaced",
    ),
    "another operation": _edit("a = x.sin()", "a = x.tanh() if step == AT else x.sin()  # here", "replaced"),
    "hidden setting": Planting((_CHANGED,), "operation", "# hidden"),
    "hidden setting in longer loops": Planting((_CHANGED, _LONGER), "operation", "# hidden"),
    "hidden setting, other order": Planting(
        (_CHANGED, ("        a = x.sin()\n        b = x.cos()\n", "        b = x.cos()\n        a = x.sin()\n")), "operation", "# hidden",
    ),
    "changed value": _edit(
        "        opt.step()  # update",
        "        opt.param_groups[0]['lr'] = 0.11 if step == AT else 0.1\n        opt.step()  # here", "argument",
    ),
    "another seed": _edit("manual_seed(0)", "manual_seed(1)", "draw", "# draw"),
    "extra draw": _edit(
        "        x = data", "        if step == AT:\n            torch.rand(3)  # here\n        x = data", "only-b",
    ),
    "other data": _edit("reshape(8, 8)", "reshape(8, 8)\nvalues[3, 3] += 0.001", "input", "# draw"),
    "other precision": _edit(
        "        y = hidden(y)", "        if step == AT:\n            y = y.half().float()  # here\n        y = hidden(y)", "only-b",
    ),
    "longer inner loop": _edit(
        "range(3)", "range(5 if step == AT else 3)", "only-b", "# evaluate",
    ),
    "shorter inner loop": _edit(
        "range(3)", "range(2 if step == AT else 3)", "only-a", "# evaluate",
    ),
    "nothing": Planting((), None),
    "other order": _edit("        a = x.sin()\n        b = x.cos()\n", "        b = x.cos()\n        a = x.sin()\n", None),
    "other lines": _edit("        y = hidden(y)", "\n\n        y = hidden(y)", None),
}  # fmt: skip


def text_of(model: str, steps: int, planting: Planting | None = None, at: int = 0) -> str:
    """Return a training function, with a difference planted at a step."""
    text = TRAINING
    for old, new in () if planting is None else planting.edits:
        assert old in text
        text = text.replace(old, new.replace("AT", str(at)))
    return text.replace("MODEL", MODELS[model]).replace("STEPS", str(steps))


def record(text: str, out: Path) -> None:
    """Run a training function from its own file, as a script."""
    file = out.with_suffix(".py")
    file.write_text(text)
    FACTOR[0] = 1.0
    exec(compile(text, str(file), "exec"), {"__name__": "__main__", "OUT": out})  # noqa: S102 -- it is ours


if __name__ == "__main__":
    for _name in MODELS:
        record(text_of(_name, STEPS), Path(sys.argv[1]) / f"{_name}.trace")
