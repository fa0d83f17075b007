"""Findings of experiments are added to an explanation."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Findings, Part
from ipytorchseed.why.explanation import Blame, Cause, Cleared, Explanation, Remedy
from ipytorchseed.why.tested import with_findings
from tests.render.explanations import run

EARLIER, LATER = (replace(run(number, "y = x"), cell="use") for number in (1, 3))
OTHER = replace(run(2, "x = 2"), cell="set")
PROVED = Finding("proved", "proved: restoring it gives {earlier}'s result again")
NO_EFFECT = Finding("no effect", "no effect: restoring it changes nothing")


def _cause(name, *by):
    return Cause("input", name, "", blame=tuple(Blame(each, "changed it") for each in by))


def _levels(causes, cleared, **found):
    said = Explanation(LATER, EARLIER, "explained", "", (), causes, cleared=cleared)
    findings = Findings(tuple(("input", name, finding) for name, finding in found.items()))
    told = with_findings(said, findings, LATER.kernel)
    return {each.name: each.finding.level for each in told.causes}, [e.name for e in told.cleared]


def test_what_may_matter_comes_last_and_what_has_no_effect_is_cleared():
    """Causes that are proved, or carried on by the cell itself, keep their order."""
    causes = (_cause("a"), _cause("b", EARLIER), _cause("c", OTHER), _cause("d", OTHER))
    levels, cleared = _levels(causes, (), b=PROVED, c=NO_EFFECT, d=PROVED)
    assert [*levels.items()] == [("b", "carried"), ("d", "proved"), ("a", "may-matter")]
    assert cleared == ["c"]


def test_what_the_cell_carries_on_keeps_its_parts():
    """A counter in an object is an example."""
    parts = (Part("log.count", "1 → 2"),)
    findings = Findings((("input", "log", replace(PROVED, parts=parts)),))
    said = Explanation(LATER, EARLIER, "explained", "", (), (_cause("log", EARLIER),))
    (cause,) = with_findings(said, findings, LATER.kernel).causes
    assert (cause.finding.level, cause.finding.parts) == ("carried", parts)


def test_findings_of_earlier_versions_have_no_parts():
    """Such findings can still be read."""
    stored = {"causes": [["input", "x", {"level": "proved", "how": "proved: …"}]]}
    found = msgspec.convert(stored, Findings)
    assert found == Findings((("input", "x", Finding("proved", "proved: …")),))


def test_what_was_cleared_is_named_if_it_is_proved():
    """The answer does not contradict itself."""
    doubtful = Cleared("input", "log", "not read", _cause("log"))
    levels, cleared = _levels((_cause("a"),), (doubtful,), a=NO_EFFECT, log=PROVED)
    assert levels == {"log": "proved"}
    assert cleared == ["a"]


def test_a_cause_stays_if_nothing_else_is_one():
    """Something else matters that no finder names, so the answer is not empty."""
    levels, cleared = _levels((_cause("a"), _cause("b")), (), a=NO_EFFECT, b=NO_EFFECT)
    assert levels == {"a": "may-matter", "b": "may-matter"}
    assert cleared == []


def test_what_depends_on_a_clock_cannot_come_back():
    """A way back that would give another result is not offered."""
    clock = Cause("entropy", "time.time", "the cell calls `time.time()`")
    remedy = Remedy(("%replay 5",), obstacle="`time.time()` is different every time")
    said = Explanation(LATER, EARLIER, "explained", "", (), (clock,), remedy=remedy)
    for finding, back in ((PROVED, Remedy(note="it depends on `time.time()`")), (None, remedy)):
        found = Findings((("entropy", "time.time", finding),) if finding else ())
        assert with_findings(said, found, LATER.kernel).remedy == back
