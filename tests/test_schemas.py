"""What we print as JSON is what its published schema says."""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError
from msgspec.structs import replace
from referencing import Registry, Resource

import ipytorchseed as its
from ipytorchseed.checking import report
from ipytorchseed.checking.program import Edit, Splice
from ipytorchseed.cli import main
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.render.check import CheckView
from ipytorchseed.render.report import Report
from ipytorchseed.render.rng import rng_json
from ipytorchseed.render.scope import receipt_json
from ipytorchseed.render.trace import comparison_json
from ipytorchseed.render.why import WhyView
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.studies.record import Record
from ipytorchseed.studies.study import Study, Versus
from ipytorchseed.trace.comparing import compare
from ipytorchseed.trace.loading import load
from tests.checking.test_saved_report import STALE
from tests.checking.verdicts import DIFFERS, DRAW, EACH, HIDDEN, SILENT, STRICT
from tests.render.checks import CHECKED
from tests.render.explanations import EXPLANATIONS
from tests.render.records import ASSESSMENTS

FOLDER = Path(its.__file__).parent / "schemas"
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
REGISTRY = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
EDIT = Edit(DRAW, "seed", "seeds torch", (Splice(0, 0, "torch.manual_seed(42)\n"),))
MENDED = replace(DIFFERS, edits=[EDIT], obstacles=["In[3]: time.time is a clock"])


def check(name, line):
    """Hold one line of JSON against a schema.

    A field that the schema does not name is an error.
    """
    told = json.loads(line)
    Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(told)
    return told


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema_and_takes_nothing_else(name):
    """It is one, goes by its file's name, and refuses what it does not describe."""
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith(f"/ipytorchseed/schemas/{name}.json")
    with pytest.raises(ValidationError):
        check(name, '{"schema": 1, "surprise": true}')


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_why(name):
    """Whatever the verdict."""
    made = EXPLANATIONS[name]
    check("why", WhyView(made, made.run.kernel).to_json())


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_the_report(name):
    """On each kind of machine."""
    check("report", Report(ASSESSMENTS[name]).to_json())


def test_where_sources_stand():
    """With and without torch, generators of all kinds, and seeds that no one knows."""
    held = {
        "g": torch.Generator().manual_seed(3),
        "rng": np.random.default_rng(),
        "old": np.random.RandomState(2),
        "own": random.Random("words"),
    }
    for flags in (ASSESSMENTS["gpu"].flags, None):
        told = check("rng", rng_json(find_generators(held), flags))
        assert len(told["generators"]) == 4


@pytest.mark.parametrize("name", CHECKED)
def test_a_check_of_a_cell(name):
    """Where it repeats, and where it does not."""
    check("repeats", CheckView(CHECKED[name]).to_json())


@pytest.mark.usefixtures("put_back")
def test_a_receipt():
    """With an operation that has no deterministic algorithm."""
    with (
        pytest.warns(UserWarning, match="may not repeat"),
        its.deterministic(7, warn=True) as block,
    ):
        torch.zeros(4).put_(torch.tensor([0, 1]), torch.ones(2))
    told = check("deterministic", receipt_json(block))
    assert told["alerts"]


def test_a_check_of_notebooks():
    """All that can become of one."""
    told = check("check", report.as_json([*EACH, SILENT, STRICT, HIDDEN, STALE, MENDED]))
    assert len(told["notebooks"]) == len(EACH) + 5
    assert told["notebooks"][-1]["edits"]


def test_a_study_of_seeds():
    """With failed seeds, values that are not finite, and another study beside it."""
    then = Record((0, 1, 2), {"acc": (0.1, 0.2, 0.4), "gone": (1.0, 1.0, 1.0)})
    values = {"acc": (0.1, math.nan, None), "new": (None, math.inf, None), "one": (None, 2.0, None)}
    now = Record((0, 1, 2), values, {2: "ValueError: no"}, ("It ended.",))
    told = check("seeds", Study(now, Versus(then, now, "base")).to_json())
    assert told["numbers"][0]["values"] == [0.1, "nan", None]
    assert told["versus"]["numbers"][0]["verdict"] == "same"
    assert check("seeds", Study(now).to_json())["versus"] is None


def test_the_ledger(tmp_path, monkeypatch):
    """What `ledger show --json` prints of its runs, and a receipt of them."""
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path))
    with Ledger.open() as ledger:
        for made in EXPLANATIONS.values():
            ledger.add(replace(made.run, started=time.time()), {})
    done = CliRunner().invoke(main, ["ledger", "show", "--json"])
    assert len(check("ledger", done.stdout)["runs"]) == len(EXPLANATIONS)
    for name in {made.run.notebook for made in EXPLANATIONS.values()}:
        done = CliRunner().invoke(main, ["ledger", "export", name])
        assert check("receipt", done.stdout)["cells"]


def test_two_traces(tmp_path):
    """That agree, part at an operation, and have their own operations."""
    for name, factor, turns in (("a", 1.0, 2), ("b", 1.5, 2), ("c", 1.0, 3)):
        with its.trace(tmp_path / name, summaries=True):
            for turn in range(turns):
                torch.full((3,), turn + 1.0) * factor
    a, b, c = (load(tmp_path / name) for name in "abc")
    kinds = []
    for pair in ((a, a), (a, b), (a, c), (c, b)):
        told = check("trace", comparison_json(compare(*pair, rtol=1e-6)))
        kinds.append((told["first_divergence"] or {}).get("kind"))
    assert kinds == [None, "argument", "only-b", "argument"]
