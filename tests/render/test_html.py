"""Static HTML has no script, escapes the user's text, and has the text's facts."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from ipytorchseed.determinism.alerts import Alert
from ipytorchseed.determinism.assessment import Assessment
from ipytorchseed.determinism.flag import Unreadable
from ipytorchseed.determinism.machine import Fact
from ipytorchseed.render.links import cause_page, flag_page
from ipytorchseed.render.report import Report
from ipytorchseed.render.scope import AlertTable
from ipytorchseed.render.seeding import Row, SeedStatus
from ipytorchseed.render.values import short_digest
from ipytorchseed.render.why import WhyView
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import UNKNOWN
from tests.render.explanations import (
    EXPLANATIONS,
    States,
    evil_explanation,
    explain,
    number,
    run,
)
from tests.render.records import ALERTS, ASSESSMENTS, STATUSES

EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "</table></div><iframe src=//x>",
    "</style><svg onload=alert(1)>",
    "&lt;b&gt;",
    "{{ 7 * 7 }}{% for x in y %}",
    "[bold red]x[/bold red]",
]


class Page(HTMLParser):
    """A parsed page: its tags, attributes and words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html.replace("<wbr>", ""))  # without a blank, as it is inside a word
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):  # noqa: D102 -- this and the next override HTMLParser
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("br", "wbr", "meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):  # noqa: D102
        assert self.open.pop() == tag, "tags close in the order in which they opened"

    def handle_data(self, data):  # noqa: D102
        if "style" not in self.open:
            self.text += f" {data}" if self.open[-1:] != ["code"] else data

    @property
    def words(self):
        """The text with collapsed white space."""
        return " ".join(self.text.split())


def _evil_views(evil):
    judged = ASSESSMENTS["cpu"].flags[0]
    flag = replace(judged.flag, name=evil, why=evil, risk=evil)
    facts = ((Fact(evil, lambda: None), evil), (Fact("gpu", lambda: None, unknown=evil), None))
    settings = (replace(judged, flag=flag, value=evil), replace(judged, value=Unreadable(evil)))
    rows = [Row(evil, "", "0" * 16, UNKNOWN), Row("g", evil, None, UNKNOWN)]
    return [
        Report(Assessment(settings, facts)),
        AlertTable([Alert(evil, 1, evil)]),
        SeedStatus(evil, rows),
        WhyView(evil_explanation(evil), "k"),
    ]


VIEWS = {
    **{f"report of {name}": Report(made) for name, made in ASSESSMENTS.items()},
    **{f"alerts, {name}": AlertTable(made) for name, made in ALERTS.items()},
    **{f"status, {name}": made for name, made in STATUSES.items()},
    **{f"why, {name}": WhyView(made, made.run.kernel) for name, made in EXPLANATIONS.items()},
    **{f"{type(v).__name__} with {e}": v for e in EVIL for v in _evil_views(e)},
}

DRAWN = {
    *("role", "width", "height", "viewbox", "fill", "d", "opacity"),
    *("stroke", "stroke-width", "stroke-dasharray"),
}
NUMBERS = {"data-against", "data-run"}
HARMLESS = {
    *("b", "figure", "figcaption", "path", "pre", "svg", "title"),
    *("div", "style", "p", "span", "ul", "li", "details", "summary", "code", "br", "wbr", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


@pytest.fixture(params=VIEWS)
def view(request):
    """Return each of the views."""
    return VIEWS[request.param]


def test_no_script_runs_and_nothing_is_loaded(view):
    """Only visible tags, no handlers, and links only to web pages."""
    page = Page(view.html())
    assert {*page.tags} <= HARMLESS
    names = {name for name, _ in page.attributes}
    assert {name for name in names if name.startswith("on")} == set()
    assert names <= {"align", "class", "scope", "href", "open", "style", "title"} | DRAWN | NUMBERS
    for name, value in page.attributes:
        if name == "href":
            assert value.startswith("https://")
        if name in NUMBERS:
            assert value.isdecimal() or not value
        if name == "style":
            assert value.startswith("--h:")
            assert value[4:].isdecimal()
    assert "url(" not in view.html()
    assert "@import" not in view.html()


def test_each_page_brings_its_own_styles_once(view):
    """A display may be the only one in a saved notebook."""
    assert Page(view.html()).tags.count("style") == 1


@pytest.mark.parametrize("made", ASSESSMENTS.values(), ids=ASSESSMENTS)
def test_a_name_may_be_broken_and_a_number_not(made):
    """``torch.backends`` may break after the dot in a narrow column; ``2.10`` may not."""
    html = Report(made).html()
    assert "torch.<wbr>backends" in html
    assert not re.search(r"\d\.<wbr>\d", html)


def test_code_in_a_title_is_set_as_code():
    """A name between backticks becomes code."""
    view = VIEWS["why, edited"]
    assert "`mean` changed" in view.text()
    assert "<code>mean</code> changed" in view.html()


def test_a_notebook_is_given_the_page(view):
    """IPython's method for HTML returns it."""
    assert view._repr_html_() == view.html()


@pytest.mark.parametrize("evil", EVIL)
def test_what_the_user_wrote_is_shown_as_it_is(evil):
    """A name, a line of code and a value are shown literally, in HTML and in text."""
    for view in _evil_views(evil):
        assert " ".join(evil.split()) in Page(view.html()).words
        assert "".join(evil.split()) in "".join(view.text().split())


@pytest.mark.parametrize("evil", EVIL)
def test_a_generator_under_an_evil_key_is_shown_as_it_is(evil):
    """A generator at ``d['<script>']`` in a namespace is named literally."""
    found = find_generators({"d": {evil: random.Random(0)}})
    page = Page(SeedStatus.read("", found).html())
    assert found[0].name in page.words
    assert {*page.tags} <= HARMLESS


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_the_report_has_the_facts_of_its_text(name):
    """It has the verdict, the risks, and each flag's name, values, reason and link."""
    report = Report(ASSESSMENTS[name])
    page = Page(report.html())
    words = page.words
    for line in " ".join(report.headline.split()).split(" ▲ "):
        assert line in words
    for judged in report.assessment.flags:
        assert judged.flag.name in words
        assert judged.flag.why in words
        assert ("href", flag_page(judged.flag.name)) in page.attributes
    for fact, value in report.assessment.facts:
        assert f"{fact.name} {value or fact.unknown}" in words


@pytest.mark.parametrize("name", ALERTS)
def test_the_alerts_have_the_facts_of_their_text(name):
    """It has the operation, line, count, replacement, and the code of the line."""
    table = AlertTable(ALERTS[name])
    words, text = Page(table.html()).words, table.text()
    for alert in ALERTS[name]:
        line = alert.forward or alert.line or "?"
        for fact in (alert.operation, line, f"{alert.count:,}", alert.instead):
            assert str(fact) in words
        assert alert.code in words
        assert alert.operation in _column(text, "Operation", "Line")
        assert "".join(alert.instead.split()) in _column(text, "Instead")


def _column(text, heading, following=None):
    """Join the text below a heading without blanks, as a table may wrap it."""
    head, *lines = text.splitlines()[-_rows(text) :]
    end = head.index(following) if following else None
    return "".join("".join(line[head.index(heading) : end].split()) for line in lines)


def _rows(text):
    """Count the lines from the headings on, which have a rule below them."""
    lines = text.splitlines()
    return len(lines) - next(n for n, line in enumerate(lines) if line.startswith("─")) + 1


@pytest.mark.parametrize("name", STATUSES)
def test_the_status_has_the_facts_of_its_text(name):
    """It has the title, and the name, type, state and position of every row."""
    status = STATUSES[name]
    words, text = Page(status.html()).words, status.text()
    assert status.title in words
    for row in status.states:
        for fact in (row.name, row.type, short_digest(row.digest), str(row.position)):
            assert fact in words
        assert "".join(row.name.split()) in _column(text, "Source", "State")
        assert "".join(str(row.position).split()) in _column(text, "Position")


def test_equal_states_have_equal_colours():
    """The colour is never the only sign, as the digest is shown too."""
    rows = [Row(n, "", d * 4, UNKNOWN) for n, d in (("a", "12ab"), ("b", "12ab"), ("c", "77ff"))]
    page = Page(SeedStatus("", rows).html())
    hues = [value for name, value in page.attributes if name == "style"]
    assert hues[0] == hues[1] != hues[2]
    assert page.words.count("12ab12ab") == 2


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_an_explanation_has_the_facts_of_its_text(name):
    """It has every cause with edit and link, every change, command and cleared cause."""
    said = EXPLANATIONS[name]
    page = Page(WhyView(said, said.run.kernel).html())
    words = page.words
    for cause in said.causes:
        assert ("href", cause_page(cause.kind, cause.name)) in page.attributes
        assert "".join(cause.message.replace("`", "").split()) in "".join(words.split())
        assert (" ".join(cause.proof.split()) in words) is (cause.kind == "code" or not cause.proof)
    for change in said.changed:
        assert f"{change.name or change.what} {change.detail}" in words
    for each in said.cleared:
        assert each.message in words
    assert " ".join(said.remedy.commands) in words


def test_what_could_not_be_looked_at_is_said_where_nothing_explains_a_change():
    """What could not be compared may be the reason."""
    first, last = (
        run(n, "y = f()", writes={"y": number(n)}, notes=("too many variables",)) for n in (1, 2)
    )
    said = explain(last, first, [first], States([first, last]))
    assert WhyView(said, "k").next_step.startswith("Too many variables. ")
