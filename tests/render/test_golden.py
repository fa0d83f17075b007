"""Every view as text, compared with golden files, fits a terminal."""

from __future__ import annotations

import time

import pytest

from ipytorchseed.render.report import Report
from ipytorchseed.render.scope import AlertTable
from ipytorchseed.render.why import WhyView
from tests.golden.plugin import FOLDER
from tests.render import checks
from tests.render.explanations import EXPLANATIONS
from tests.render.records import ALERTS, ASSESSMENTS, STATUSES

VIEWS = {
    **{f"report-{name}": Report(made) for name, made in ASSESSMENTS.items()},
    **{f"alerts-{name}": AlertTable(made) for name, made in ALERTS.items()},
    **{f"seeding-{name}": made for name, made in STATUSES.items()},
    **checks.VIEWS,
    **{f"why-{name}": WhyView(made, made.run.kernel) for name, made in EXPLANATIONS.items()},
}


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Use UTC, as runs before a restart are named by local time."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", VIEWS)
def test_the_text_is_that_of_the_golden_file(golden, name):
    """A change of wording or layout changes a golden file, which is then reviewed."""
    golden(name, VIEWS[name].text())


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_the_full_report_is_that_of_the_golden_file(golden, name):
    """The full report has every setting, in groups."""
    golden(f"report-all-{name}", Report(ASSESSMENTS[name]).full_text())


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_prints_itself(name):
    """``repr`` and ``str`` are the text."""
    view = VIEWS[name]
    assert repr(view) == str(view) == view.text()


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_a_golden_file_fits_a_terminal(file):
    """It has 80 columns, no trailing blanks, no colour codes and one final newline."""
    text = file.read_text(encoding="utf-8")
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    assert all(letter.isprintable() for line in lines for letter in line)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
