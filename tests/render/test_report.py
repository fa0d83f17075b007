"""The determinism report has plain words first, and the same facts in each form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import ipytorchseed as its
from ipytorchseed.determinism.assessment import Assessment, Standing
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.render.report import Report
from ipytorchseed.render.text import visible
from tests.render.records import ASSESSMENTS, CPU, GPU, VALUES, assessment


@pytest.fixture(params=ASSESSMENTS)
def made(request):
    """Return each of the assessments."""
    return ASSESSMENTS[request.param]


def test_where_all_is_right_the_report_says_so():
    """Its first line says so, and nothing is left to do."""
    report = Report(ASSESSMENTS["right"])
    assert report.headline == "Runs repeat on this machine: every setting is as it should be."
    assert "▲" not in report.text()


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_what_stands_in_the_way_comes_first_each_with_its_remedy(name):
    """There is one point for each flag that needs a change, and no other."""
    made = ASSESSMENTS[name]
    first, *rest = Report(made).headline.split("\n  ▲ ")
    assert first == f"{len(made.problems)} things can still change results:"
    points = [" ".join(point.split()) for point in rest]
    assert len(points) == len(made.problems) > 0
    for judged, point in zip(made.problems, points, strict=True):
        remedy = judged.flag.remedy if judged.standing is Standing.LATE else "%deterministic on"
        assert point.startswith(f"{judged.flag.risk} – ")
        assert point.endswith(remedy)


def test_wrong_flags_of_the_gpu_are_named():
    """Flags of cuDNN, which old advice sets wrongly, are named only with a GPU."""
    flags = {"torch.backends.cudnn.benchmark", "CUBLAS_WORKSPACE_CONFIG"}
    on_gpu = {each.flag.name for each in ASSESSMENTS["gpu"].problems}
    on_cpu = {each.flag.name for each in ASSESSMENTS["cpu"].problems}
    assert flags <= on_gpu
    assert not flags & on_cpu


def test_every_flag_and_every_fact_is_in_the_text(made):
    """Each has its reason, and an unknown one says why."""
    text = Report(made).full_text()
    words = " ".join(text.split())
    for judged in made.flags:
        assert f" {judged.flag.name}" in text
        assert judged.flag.why in words
    for fact, value in made.facts:
        assert (value or fact.unknown) in words


@given(
    st.text() | st.sampled_from([f"{'a long value ' * 9}end", "-" * 200, "a\nb", "\t", "é" * 66])
)
def test_any_value_of_a_variable_fits_a_terminal(value):
    """Any value is shown in full on lines of 80 columns."""
    flags = ("OMP_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG", "PYTHONHASHSEED")
    plain = Report(assessment(GPU, VALUES | dict.fromkeys(flags, "1"))).full_text()
    text = Report(assessment(GPU, VALUES | dict.fromkeys(flags, value))).full_text()
    assert max(map(len, text.splitlines())) <= 80
    assert text.split("\n")[0] == plain.split("\n")[0]
    shown = visible(value)
    assert "".join(text.split()).count("".join(shown.split())) >= len(flags)


def test_json_is_one_line_with_every_flag(made):
    """It has ``schema``, and each flag's ``name``, ``value``, ``wanted`` and ``ok``."""
    line = Report(made).to_json()
    told = json.loads(line)
    assert "\n" not in line
    assert set(told) == {"schema", "flags"}
    assert told["schema"] == 1
    assert [flag["name"] for flag in told["flags"]] == [flag.name for flag in FLAGS]
    assert all(set(flag) == {"name", "value", "wanted", "ok"} for flag in told["flags"])
    assert [flag["ok"] for flag in told["flags"]] == [each.ok for each in made.flags]


def test_json_writes_values_that_json_has():
    """Types are written as by torch, pairs are lists, and missing values are null."""
    told = json.loads(Report(assessment(CPU, VALUES)).to_json())
    values = {flag["name"]: (flag["value"], flag["wanted"]) for flag in told["flags"]}
    assert values["torch.default_dtype"] == ("torch.float32", None)
    assert values["torch.default_device"] == (None, None)
    assert values["torch.num_threads"] == (8, None)
    assert values["torch.use_deterministic_algorithms"] == (False, True)
    assert values["torch.backends.cuda.matmul.allow_tf32"] == (None, None)
    pair = "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction"
    assert values[pair] == ([True, True], None)


def test_the_report_of_this_process_prints_itself(capsys):
    """``print(its.report())`` shows the findings, and how to see all settings."""
    print(its.report())  # noqa: T201 -- the subject
    text = capsys.readouterr().out
    assert text.startswith(
        f"{len(its.report().assessment.problems)} things can still change results:"
    )
    assert f"To see all {len(its.report().assessment.flags)} settings: %deterministic --all" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_report_without_flags_or_facts_is_still_a_report():
    """It knows no reason against repeatability."""
    report = Report(Assessment((), ()))
    assert report.text().startswith("Runs repeat on this machine: ")
    assert json.loads(report.to_json()) == {"schema": 1, "flags": []}
    assert "Runs repeat" in report.html()


def test_the_first_group_is_unfolded_only_where_something_is_wrong():
    """Details are folded; settings that need a change are unfolded."""
    assert Report(ASSESSMENTS["cpu"]).html().count("<details open>") == 1
    assert Report(ASSESSMENTS["right"]).html().count("<details open>") == 0
    judged = ASSESSMENTS["right"].flags[0]
    late = Assessment((replace(judged, late="too late", standing=Standing.LATE),), ())
    assert Report(late).html().count("<details open>") == 1
