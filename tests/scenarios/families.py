"""Builds scenarios from parts: two causes at once, and long chains of cells.

Each scenario is a text in the format of the files in ``cases``.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Part(NamedTuple):
    """A way in which a result may change.

    Attributes:
        setup: The initial cell.
        reads: An expression for a number that depends on the initial cell.
        change: A cell that changes the number.
        expect: The cause that must be named, and the step to blame, which is the third.
    """

    setup: str
    reads: str
    change: str
    expect: str


PARTS = {
    "data": Part("data = [1.0]", "sum(data)", "data.append(2.0)", "input data 3"),
    "numpy": Part("np.random.seed(0)", "np.random.rand()", "n = np.random.rand(3)", "rng numpy 3"),
    "clock": Part("", "time.time_ns() % 10**12", "", "entropy time.time_ns"),
    "torch": Part(
        "torch.manual_seed(0)", "torch.rand(1).item()", "t = torch.rand(3)", "rng torch.cpu 3"
    ),
    "generator": Part(
        "rng = np.random.default_rng(0)", "rng.random()", "g = rng.random(3)", "rng rng 3"
    ),
    "file": Part(
        "w = open('f.txt', 'w').write('1')", "float(open('f.txt').read())",
        "w = open('f.txt', 'w').write('22')", "file f.txt 3",
    ),
    "helper": Part("half = lambda x: x / 2", "half(3)", "half = lambda x: x / 4", "input half 3"),
    "dtype": Part(
        "", "torch.tensor(0.1).item()", "torch.set_default_dtype(torch.float64)",
        "flag torch.default_dtype 3",
    ),
    "variable": Part(
        "os.environ['RATE_X'] = '1'", "float(os.environ['RATE_X'])",
        "os.environ['RATE_X'] = '2'", "environment RATE_X 3",
    ),
    "attribute": Part(
        "class Options:\n    rate = 1.0\n    name = 'a'\noptions = Options()", "options.rate",
        "options.rate = 2.0", "input options 3",
    ),
    "precision": Part(
        "decimal.getcontext().prec = 9", "float(decimal.Decimal(1) / 7)",
        "decimal.getcontext().prec = 3", "flag decimal.getcontext 3",
    ),
    "weights": Part(
        "layer = torch.nn.Linear(1, 1)", "layer(torch.ones(1)).item()",
        "with torch.no_grad():\n    r = layer.weight.add_(1)", "input layer 3",
    ),
}  # fmt: skip

_IMPORTS = "import decimal, os, time\nimport numpy as np\nimport torch"


def two_causes() -> Iterator[tuple[str, str]]:
    """Yield names and texts of scenarios with two causes."""
    for one, other in [*combinations(PARTS, 2)][1::3]:
        parts = PARTS[one], PARTS[other]
        reads, expect, setup, change = (
            separator.join(filter(None, (getattr(part, field) for part in parts)))
            for field, separator in (
                ("reads", " + "),
                ("expect", "\nexpect: "),
                ("setup", "\n"),
                ("change", "\n"),
            )
        )
        yield (
            f"two_{one}_{other}",
            f'''"""Two causes at once: {one} and {other}.

run: setup q change q
ask: q
probe: out
changed: yes
expect: {expect}
"""
# %% setup
{_IMPORTS}
{setup}
# %% q
out = {reads}
# %% change
{change}
''',
        )


class Link(NamedTuple):
    """A chain of cells of one kind, each of which depends on the cell before it.

    Attributes:
        setup: The cell before the chain.
        text: A cell of the chain, with its number as ``{n}`` and the previous number as ``{m}``.
        edit: The later edit of the first cell: old text and new text.
        reads: The expression in the cell after the chain.
        expect: The cause that must be named. Other causes may be named too.
    """

    setup: str
    text: str
    edit: tuple[str, str]
    reads: str
    expect: str


LENGTH = 6

LINKS = {
    "plain": Link("v0 = [1, 2]", "v{n} = [2 * x for x in v{m}]", ("2 *", "3 *"), "sum(v6)",
                  "input v6"),
    "torch": Link("torch.manual_seed(0)\nv0 = torch.ones(3)", "v{n} = v{m} + torch.rand(3)",
                  ("rand(3)", "rand(3) * 2"), "v6.tolist()", "input v6"),
    "numpy": Link("np.random.seed(0)\nv0 = np.ones(3)", "v{n} = np.random.permutation(v{m} + {n})",
                  ("+ 1", "+ [1, 2, 3]"), "v6.tolist()", "input v6"),
    "generator": Link("rng = np.random.default_rng(0)\nv0 = 1.0", "v{n} = v{m} + rng.random()",
                      ("rng.random()", "rng.random() * 2"), "v6", "input v6"),
    "in_place": Link("data = [1]", "data.append({n} + len(data))", ("len", "2 * len"), "data[:]",
                     "input data"),
    "functions": Link("def f0(x):\n    return x", "def f{n}(x):\n    return f{m}(x) * 2 + {n}",
                      ("* 2", "* 3"), "f6(1)", "input f1"),
    "frame": Link("df = pd.DataFrame({{'c0': [1.0, 2.0]}})", "df['c{n}'] = df['c{m}'] * 2",
                  ("* 2", "* 3"), "df['c6'].tolist()", "input df"),
    "training": Link(
        "torch.manual_seed(0)\nx = torch.ones(2, 3)\nmodel = torch.nn.Linear(3, 1)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
        "opt.zero_grad()\n(model(x) * {n}).pow(2).sum().backward()\nopt.step()",
        ("pow(2)", "pow(4)"), "model(x).tolist()", "input model",
    ),
    "objects": Link("class Box:\n    size = 1\nb0 = Box()",
                    "b{n} = Box()\nb{n}.size = b{m}.size * 2 + {n}", ("* 2", "* 3"), "b6.size",
                    "input b6"),
    "dropout": Link("torch.manual_seed(0)\nv0 = torch.ones(8)\ndrop = torch.nn.Dropout(0.2)",
                    "v{n} = drop(v{m}) + {n}", ("+ 1", "+ 2"), "v6.tolist()", "input v6"),
}  # fmt: skip


def chains() -> Iterator[tuple[str, str]]:
    """Yield names and texts of scenarios in which a chain of cells runs again.

    The first cell of the chain was edited. There is a scenario for the same kernel, and one with a
    restart. The way back runs all cells of the chain.
    """
    numbers = range(1, LENGTH + 1)
    for (kind, link), restart in [(item, each) for item in LINKS.items() for each in (False, True)]:
        first = link.text.format(n=1, m=0)
        again = ["!restart", "imports", "setup"] if restart else ["setup"]
        steps = [f"s{n}" for n in numbers]
        run = ["imports", "setup", *steps, "q", *again, "s1@2", *steps[1:], "q"]
        cells = {
            "imports": "import numpy as np\nimport pandas as pd\nimport torch",
            "setup": link.setup.replace("{{", "{").replace("}}", "}"),
            **{f"s{n}": link.text.format(n=n, m=n - 1) for n in numbers},
            "s1@2": first.replace(*link.edit),
            "q": f"out = {link.reads}",
        }
        texts = "\n".join(f"# %% {name}\n{text}" for name, text in cells.items())
        yield (
            f"chain_{kind}{'_restart' if restart else ''}",
            f'''"""A chain of cells was run again from an edited first one{", in another kernel" * restart}.

run: {" ".join(run)}
ask: q
probe: out
changed: yes
expect: {link.expect}
allow: input *
back: complete
needs: pandas
"""
{texts}
''',
        )
