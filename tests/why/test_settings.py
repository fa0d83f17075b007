"""Which settings account for a change, depending on what the cell does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ipytorchseed.ledger.records import REPLACED, marked
from ipytorchseed.why.explain import explain
from tests.render.explanations import States, number, run, value

NUMERICS = "torch._inductor.config.numerics"


def test_what_a_setting_implies_is_named_with_it():
    """An implied setting is no separate cause."""
    implied = "torch._inductor.config.emulate_precision_casts"
    runs = [
        run(
            count,
            "loss = step(x)",
            writes={"loss": number(loss)},
            settings={NUMERICS: numerics, implied: numerics == "strict"},
            packages=("torch",),
        )
        for count, loss, numerics in ((5, 1.0, "default"), (9, 1.5, "strict"))
    ]
    told = explain(runs[1], runs[0], runs[:1], States(runs))
    assert [cause.name for cause in told.causes] == [NUMERICS]
    assert {each.name: each.message for each in told.cleared}[
        implied
    ] == f"changes together with {NUMERICS}"


_STATEMENTS = """
import functools, json
import torch
from ipytorchseed.determinism.flag import Unreadable
from ipytorchseed.determinism.table import FLAGS, read_flags
from ipytorchseed.why.finders.settings import _fix

wrong = {}
for flag in FLAGS:
    before = read_flags()
    value = before[flag.name]
    if not flag.name.startswith("torch.") or isinstance(value, Unreadable):
        continue
    path = flag.name.split(".")[1:]
    held = functools.reduce(lambda owner, name: getattr(owner, name, None), path, torch)
    statement = _fix(flag.name, value)
    if held is None and statement.startswith(flag.name):
        continue  # a torch without it
    try:
        exec(statement)
    except Exception as error:
        wrong[flag.name] = repr(error)
    now = functools.reduce(lambda owner, name: getattr(owner, name, None), path, torch)
    if callable(held) and now is not held:
        wrong[flag.name] = "put in place of a function"
    elif read_flags()[flag.name] != value:
        wrong[flag.name] = "sets another value"
print(json.dumps(wrong))
"""


def test_statements_that_put_flags_back_run_and_replace_no_function_of_torch():
    """A statement with a flag's present value leaves the flag unchanged."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _STATEMENTS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "{}", done.stdout + done.stderr


def test_a_replaced_constant_of_a_module_is_listed_once():
    """Replacing and reading it count as one cause."""
    before, after = value("aa01", "int", "3"), value("aa02", "int", "5")
    runs = [
        run(5, "y = conf.DEPTH", reads={"conf.DEPTH": before}, writes={"y": number(3.0)}),
        run(6, "conf.DEPTH = 5", writes={"conf.DEPTH": after}),
        run(
            7,
            "y = conf.DEPTH",
            reads=marked({"conf.DEPTH": after}, {"conf.DEPTH"}, REPLACED),
            writes={"y": number(5.0)},
        ),
    ]
    told = explain(runs[2], runs[0], runs[:2], States(runs))
    assert [(cause.kind, cause.name) for cause in told.causes] == [("input", "conf.DEPTH")]
    assert [blame.run.execution_count for blame in told.causes[0].blame] == [6]


def test_a_cell_that_has_no_settings_on_record_is_not_blamed_for_one():
    """Settings that are missing from one record do not count as changes."""
    eight, two = {"torch.num_threads": 8}, {"torch.num_threads": 2, "OMP_NUM_THREADS": "2"}
    runs = [
        run(
            5,
            "y = x.sum()",
            started=5.0,
            settings=eight,
            writes={"y": number(3.0)},
            packages=("torch",),
        ),
        run(6, "torch.set_num_threads(2)", started=6.0, settings=eight, packages=("torch",)),
        run(7, "rate = 0.1", started=7.0, settings={}, writes={"rate": number(0.1)}),
        run(
            8,
            "y = x.sum()",
            started=8.0,
            settings=two,
            writes={"y": number(5.0)},
            packages=("torch",),
        ),
    ]
    (cause,) = explain(runs[3], runs[0], runs[:3], States(runs)).causes
    assert [blame.run.execution_count for blame in cause.blame] == [6]
    edited = run(9, "rate = torch.rand(1)", settings=two, writes={"rate": number(0.2)},
                 packages=("torch",))  # fmt: skip
    told = explain(edited, runs[2], runs[2:], States([*runs, edited]))
    assert "OMP_NUM_THREADS" not in {each.name for each in (*told.causes, *told.cleared)}


@pytest.mark.parametrize(
    ("before", "after", "said", "fix"),
    [
        (
            "8",
            "3",
            "the environment variable `RATE_X`: 8 → 3",
            "import os; os.environ['RATE_X'] = '8'",
        ),
        (
            None,
            "3",
            "the environment variable `RATE_X`: not set → 3",
            "import os; del os.environ['RATE_X']",
        ),
    ],
)
def test_a_variable_is_put_back_as_the_cell_reads_it(before, after, said, fix, monkeypatch):
    """The statement can be typed where the notebook runs."""
    source = "rate = os.environ.get('RATE_X')"
    runs = [
        run(count, source, writes={"rate": number(rate)},
            settings={"RATE_X": setting} if setting else {})
        for count, rate, setting in ((5, 1.0, before), (9, 1.5, after))
    ]  # fmt: skip
    (cause,) = explain(runs[1], runs[0], runs[:1], States(runs)).causes
    assert (cause.message, cause.fix) == (said, fix)
    monkeypatch.setenv("RATE_X", after)
    exec(cause.fix, {})  # noqa: S102 -- our own text
    assert os.environ.get("RATE_X") == before


def test_an_order_of_hashes_that_was_random_is_lost():
    """No command restores it, so none is offered."""
    runs = [
        run(count, "''.join(words)", writes={"text": number(text)}, nondeterministic_calls=("hash",),
            settings={"PYTHONHASHSEED": seed})
        for count, text, seed in ((5, 1.0, "random"), (9, 1.5, "2"))
    ]  # fmt: skip
    (cause,) = explain(runs[1], runs[0], runs[:1], States(runs)).causes
    assert (cause.name, cause.fix) == ("PYTHONHASHSEED", "")


def test_an_address_with_a_password_is_in_no_message():
    """Outputs of ``%why`` are shared with the notebook."""
    runs = [
        run(
            count,
            "loss = load(x)",
            writes={"loss": number(count)},
            settings={"DB_URL": f"postgres://ada:secret{count}@host"},
            packages=("torch",),
        )
        for count in (5, 9)
    ]
    (cause,) = explain(runs[1], runs[0], runs[:1], States(runs)).causes
    assert cause.name == "DB_URL"
    assert "secret" not in repr((cause.message, cause.fix, [each.how for each in cause.blame]))


def test_members_of_a_setting_are_blamed_on_the_cells_that_set_them():
    """A later cell that set another member is not blamed for the first."""
    settings = [
        {"numpy.seterr": {"divide": divide, "under": under}}
        for divide, under in (("warn", "ignore"), ("raise", "ignore"), ("raise", "warn"))
    ]
    use = {"source": "odds = log(p)", "packages": ("numpy",)}
    runs = [
        run(1, **use, started=1.0, writes={"odds": number(1.0)}, settings=settings[0]),
        run(2, "np.seterr(divide='raise')", started=2.0, settings=settings[0]),
        run(3, "np.seterr(under='warn')", started=3.0, settings=settings[1]),
        run(4, **use, started=4.0, writes={"odds": number(2.0)}, settings=settings[2]),
    ]
    told = explain(runs[3], runs[0], runs[:3], States(runs))
    (cause,) = told.causes
    said = (
        "In[2] changed `numpy.seterr`: divide warn → raise; then In[3] changed under ignore → warn"
    )
    assert cause.message == said
    assert [each.run.execution_count for each in cause.blame] == [2, 3]
