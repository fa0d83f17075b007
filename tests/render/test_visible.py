"""Every character of a text from outside is shown, and none acts on the terminal."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ipytorchseed.determinism.machine import Fact
from ipytorchseed.experiment.rewind import Restored
from ipytorchseed.ledger.records import Observed, SeedEntry
from ipytorchseed.render.check import CheckView
from ipytorchseed.render.inspection import (
    line_model,
    now_model,
    settings_model,
    visible_model,
    why_model,
)
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.report import Report
from ipytorchseed.render.rng import CallsView, RngView, StateDifference, WhoView
from ipytorchseed.render.scope import AlertTable
from ipytorchseed.render.seeding import SeedLog, SeedStatus, restored_text, seeded_text
from ipytorchseed.render.text import draw_table, visible, width, wrap
from ipytorchseed.render.values import write_value
from ipytorchseed.render.why import WhyView
from tests.render.checks import CHECKED, TRACED
from tests.render.explanations import EXPLANATIONS
from tests.render.hostile import HOSTILE, poisoned, unseen
from tests.render.records import ALERTS, CPU, STATUSES, VALUES, assessment
from tests.render.test_timeline import A, B, run

SHOWN = {
    "loss": "loss",
    "naïve 数据 🎲 a\u00a0b": "naïve 数据 🎲 a\u00a0b",
    "नमस्\u200dते 👩\u200d🔬": "नमस्\u200dते 👩\u200d🔬",
    "a\x1b[31mb": r"a\x1b[31mb",
    "a\nb\tc\r": r"a\nb\tc\r",
    "x\u202ey": r"x\u202ey",
    "\x9b\x85\u2028": r"\x9b\x85\u2028",
    "\udcff\ud800": r"\udcff\ud800",
    "\x00\x7f": r"\x00\x7f",
    "in\u200bvisible\ufeff\U000e0041": r"in\u200bvisible\ufeff\U000e0041",
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.items(), ids=ascii)
def test_what_cannot_be_seen_is_escaped_and_the_rest_stays(text, shown):
    """Invisible characters are escaped as by Python.

    Letters of all scripts, and joiners between them, are unchanged.
    """
    assert visible(text) == shown


def test_lines_that_are_meant_stay_lines():
    """Code keeps its lines, and its tabs indent."""
    assert visible("if x:\n\ty\r\n", lines=True) == "if x:\n    y\\r\n"


@given(st.text())
def test_any_text_is_made_visible_once(text):
    """The result needs no more escaping, and can be written to any file."""
    assert not unseen(visible(text)) | unseen(visible(text, lines=True))
    assert visible(visible(text)) == visible(text)
    assert "\n" not in visible(text)
    assert len(visible(text).encode()) >= len(text)


def views(evil):
    """Make one of each view from records with hostile text in every field."""
    for made in EXPLANATIONS.values():
        yield WhyView(poisoned(made, evil), poisoned(made, evil).run.kernel)
    for checked in CHECKED.values():
        yield CheckView(poisoned(checked, evil))
    for alerts in ALERTS.values():
        yield AlertTable(poisoned(alerts, evil))
    ran = poisoned(run(1, {"python": A}, {"python": B}, kernel="k"), evil)
    ran = replace(
        ran, after={**ran.after, f"g['{evil}']": A}, generators={f"g['{evil}']": "random.Random"}
    )
    later = replace(ran, id=7, between={evil: (A, B)}, status=f"error{evil}")
    for traces in TRACED.values():
        yield WhoView(ran, poisoned(traces, evil), "k")
    drew = {f"python{evil}": (f"draw{evil}", evil)}
    yield CallsView(replace(ran, observed=Observed(drew=drew)), "k")
    for status in STATUSES.values():
        yield SeedStatus(status.title + evil, poisoned(status.states, evil))
    report = Report(assessment(CPU, VALUES | dict.fromkeys(VALUES, f"a{evil}")))
    report.assessment = replace(
        report.assessment, facts=((Fact("gpu", lambda: None), f"GPU {evil}"),)
    )
    yield report
    status = SeedStatus(f"Last seed{evil}", poisoned(next(iter(STATUSES.values())).states, evil))
    yield RngView(status, report, [ran, later], ran.kernel, note=f"note{evil}")
    yield StateDifference(ran, later, lambda *_: None, "k")
    entry = SeedEntry(1, f"how{evil}", 1.8e9, "n", "k", 1, "cell")
    yield SeedLog([entry], {("k", 1): ran}, "k", note=f"note{evil}")


@settings(deadline=None, max_examples=25)
@given(HOSTILE)
def test_no_view_shows_a_character_that_acts(evil):
    """Terminals, notebooks and JSON, which has other escapes, show it escaped."""
    for view in views(evil):
        assert unseen(view.text()) == set(), type(view)
        assert unseen(view.html()) == set(), type(view)
        assert not any(line.startswith(("::", "##[")) for line in view.text().splitlines())
        if isinstance(view, WhyView):
            assert unseen(view.one_line) == set()
            assert unseen(view.to_json()) == set()


@settings(deadline=None)
@given(HOSTILE)
def test_no_single_text_shows_a_character_that_acts(evil):
    """Paragraphs, tables, labels, values and messages about seeds and states."""
    row = STATUSES["generators"].states[-1]
    texts = [
        wrap(f"{evil} words {evil}", first="  "),
        draw_table(evil, {evil: {}}, [[f"a{evil}"]]),
        label_of(f"a{evil}", 20),
        label_of(f"a{evil}"),
        write_value((evil, None)),
        restored_text(Restored((evil,), (evil,), (evil,), (evil,)), evil),
    ]
    assert row.type
    assert set().union(*map(unseen, texts)) == set()


def test_what_was_seeded_is_named_visibly():
    """A generator is named by the expression that gives it, with any key of a dict."""
    import random

    from ipytorchseed.rng.generators import find_generators

    found = find_generators({"rngs": {"a\x1b[2J\u202e": random.Random(1)}})
    assert len(found) == 1
    said = seeded_text(42, [(found[0], 7)], found)
    assert unseen(said) == set()
    assert len(said.splitlines()) == 3


@settings(deadline=None, max_examples=25)
@given(HOSTILE)
def test_no_model_of_the_inspector_holds_a_character_that_acts(evil):
    """Browsers draw it as text, and obey marks of direction."""
    explanation = poisoned(EXPLANATIONS["trained"], evil)
    view = RngView(
        SeedStatus("", poisoned(STATUSES["generators"].states, evil)),
        Report(assessment(CPU, VALUES | dict.fromkeys(VALUES, f"a{evil}"))),
        [explanation.against, explanation.run],
        "k",
    )
    models = [
        why_model(WhyView(explanation, "k")),
        now_model(view.status.states, view.moves),
        settings_model(view.report),
        *map(line_model, view.lines),
        *(line.words for line in view.lines),
    ]
    for model in models:
        shown = json.dumps(visible_model(model), ensure_ascii=False)
        assert unseen(shown) == set()
        texts = [text for text in strings(visible_model(model)) if unseen(text)]
        assert texts == []


def strings(model):
    """Yield every text in a model, including keys."""
    if isinstance(model, str):
        yield model
    elif isinstance(model, dict):
        for name, each in model.items():
            yield name
            yield from strings(each)
    elif isinstance(model, (list, tuple)):
        for each in model:
            yield from strings(each)


def test_a_message_without_end_is_cut():
    """An exception may contain a whole file."""
    shown = wrap("x" * 10_000_000, first="  ")
    assert shown.endswith("…")
    assert len(shown) < 10_000


class _Terminal(io.StringIO):
    """A terminal with a number of columns."""

    def __init__(self, columns):
        super().__init__()
        self.columns = columns

    def isatty(self):
        return True

    def fileno(self):
        return self.columns


@pytest.mark.parametrize(("columns", "wide"), [(60, 60), (200, 80), (0, 80), (3, 40)])
def test_text_fits_a_narrow_terminal(monkeypatch, columns, wide):
    """Paragraphs and tables fit; other outputs have 80 columns."""
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((fd, 24)))
    monkeypatch.setattr(sys, "stdout", _Terminal(columns))
    words = "a word " * 40
    assert wide - 7 < max(map(len, wrap(words, first="  ").splitlines())) <= wide
    assert max(map(len, draw_table(words, {"Cell": {}}, [[words]]).splitlines())) <= wide
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert 73 < max(map(len, wrap(words, first="  ").splitlines())) <= 80


class _Log(io.StringIO):
    """An object as scripts use it to replace standard output."""

    isatty = True


@pytest.mark.parametrize("stream", [None, _Log(), object()])
def test_what_stands_for_the_terminal_may_be_anything(monkeypatch, stream):
    """Text is as wide as without a terminal."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stream)
        told = width()
    assert told == 80
