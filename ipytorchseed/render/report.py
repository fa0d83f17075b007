"""The determinism report: a summary, all settings, versions and hardware."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ipytorchseed.determinism.assessment import Assessment, Judged, Standing, assess
from ipytorchseed.determinism.flag import ANY, plain
from ipytorchseed.determinism.table import BY_NAME
from ipytorchseed.render.links import DOCS
from ipytorchseed.render.text import WIDTH, wrap
from ipytorchseed.render.values import pick, write_json, write_value
from ipytorchseed.render.view import View
from ipytorchseed.why.words import many

_MAGIC = "%deterministic on"
_ALL = "%deterministic --all, or in a shell: ipytorchseed report --all"
# Each group's title, mark and verdicts.
_GROUPS = (
    ("To change", "▲", (Standing.WRONG, Standing.LATE)),
    ("As it should be", "✓", (Standing.RIGHT,)),
    ("Not reported by torch", "?", (Standing.UNKNOWN,)),
    ("Fine, but keep these the same", "·", (Standing.FREE,)),
    ("Not used on this machine", "·", (Standing.ABSENT,)),
)


def report() -> Report:
    """Return a report on the settings that decide whether results repeat.

    It lists the current and the needed value of each. It imports torch, but starts no device and
    changes no setting.

    Returns:
        A report that prints in 80 columns, and displays as HTML in a notebook.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython is not None and ipython.get_ipython() is not None
    return Report(assess(), _MAGIC if shell else "with its.deterministic():")


class Report(View):
    """The determinism report.

    Args:
        assessment: The judgement of every flag, and the facts of this machine.
        switch: The command that sets the settings, as the user types it.

    Attributes:
        verdict: The answer in one line.
        risks: The problems, worst first: each risk, with its fix in words or a command.
        groups: Every setting, in groups with titles; settings to change come first.
    """

    template = "report"

    def __init__(self, assessment: Assessment, switch: str = _MAGIC) -> None:
        self.assessment = assessment
        self.verdict = "Runs repeat on this machine: every setting is as it should be."
        if assessment.problems:
            self.verdict = f"{many(len(assessment.problems), 'thing')} can still change results:"
        self.risks = [
            (each.flag.risk, f"to fix it, {each.flag.remedy}", "")
            if each.standing is Standing.LATE
            else (each.flag.risk, "", switch)
            for each in assessment.problems
        ]
        self.groups = [
            (title, rows)
            for title, mark, verdicts in _GROUPS
            if (rows := [_row(it, mark) for it in assessment.flags if it.standing in verdicts])
        ]

    @property
    def headline(self) -> str:
        """The answer in plain words, and a line for each problem."""
        risks = [f"{risk} – {how}{command}" for risk, how, command in self.risks]
        return "\n".join([self.verdict, *(wrap(risk, first="  ▲ ") for risk in risks)])

    def text(self) -> str:
        """Draw the answer and the problems for a terminal of 80 columns."""
        count = len(self.assessment.flags)
        return f"{self.headline}\n{wrap(f'To see all {count} settings: {_ALL}', first='')}"

    def full_text(self) -> str:
        """Draw the answer, every setting, versions and hardware."""
        parts = [self.headline]
        for title, rows in self.groups:
            parts += ["", _head(f"{title} ({len(rows)})"), *map(_lines, rows)]
        parts += ["", "Versions and hardware"]
        for fact, value in self.assessment.facts:
            parts.append(wrap(value or fact.unknown, first=f"  {fact.name:<8}"))
        parts += ["", f"What each setting does: {DOCS}flags.html"]
        return "\n".join(parts)

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        return write_json(flags=flags_json(self.assessment.flags))


def flags_json(flags: Iterable[Judged]) -> list[dict[str, object]]:
    """Return flags as JSON values."""
    return [
        {"name": it.flag.name, "value": plain(it.value), "wanted": plain(it.wanted), "ok": it.ok}
        for it in flags
    ]


def _row(judged: Judged, mark: str) -> dict[str, object]:
    brief = "by block" if judged.flag.set is None else "any time"
    return {
        **pick(judged.flag, "name", "why", "source"),
        "mark": mark,
        "value": write_value(judged.value),
        "wanted": "any" if judged.wanted is ANY else write_value(judged.wanted),
        "change": judged.late or brief,
        "brief": brief if judged.late is None else "restart",
        "ok": judged.ok,
        "is_explained": judged.flag.name in BY_NAME,
    }


# Widths of the columns for name, current and needed value. The column "Change" takes the rest.
_NAME, _NOW, _NEEDED = 50, 10, 8


def _head(title: str) -> str:
    return f"{title:<{_NAME + 2}}{'Now':<{_NOW}}{'Needed':<{_NEEDED}}Change\n{'─' * WIDTH}"


def _lines(row: dict[str, object]) -> str:
    name, now = f"{row['mark']} {row['name']}", str(row["value"])
    values = f"{now:<{_NOW - 1}} {row['wanted']:<{_NEEDED}}{row['brief']}"
    if len(values) > WIDTH - 2:
        line = f"{name}\n{wrap(values, first='    ')}"
    elif len(name) > _NAME + 1 or len(now) >= _NOW:
        line = f"{name}\n{values:>{WIDTH - 2}}"
    else:
        line = f"{name:<{_NAME + 2}}{values}"
    return f"{line}\n{wrap(str(row['why']), first='    ')}"
