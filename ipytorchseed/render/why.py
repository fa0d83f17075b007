"""``%why`` as text, HTML and JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from operator import eq

from ipytorchseed.ledger.records import Run
from ipytorchseed.render.curves import BOX, charted, draw_curves, sparklines
from ipytorchseed.render.labels import DIGITS, label_of, shorten, shown_numbers
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View, fill
from ipytorchseed.why.evidence import FOLDER, run_phrase, run_word
from ipytorchseed.why.experiments import MAY_MATTER
from ipytorchseed.why.explanation import Blame, Cause, Change, Explanation, Root, suspect
from ipytorchseed.why.remedy import find_keep
from ipytorchseed.why.train_mode import find_train_mode
from ipytorchseed.why.value_changes import write_digits, write_step
from ipytorchseed.why.words import sentence

_MOST_CHANGES = 6
_MOST_MAY_MATTER = 3
_MOST_UNKNOWN = 3
_MOST_CLEARED = 8

_ALLOW = (
    "Allow more seconds to read values: %config IPyTorchSeed.budget = 2. On a GPU, end the cell"
    " with torch.cuda.synchronize()"
)
_CHECK = (
    "put %%deterministic --check at the top of the cell and run it: this shows whether the cell"
    " gives the same result twice and, if not, which operation differs"
)

KEEP, FOLDED = "To keep it from now on:", "Also changed, may matter"

# Kinds of changes, in the order in which people look at them.
_ASKED_ABOUT = ("result", "variable", "stdout", "display", "error", "source")

_WORDS = {"stdout": "the printed text", "display": "what is displayed", "error": "the error"}

# The maximum number of characters of an error in the title.
_MOST_ERROR = 60

# The maximum number of items of a list, or numbers of a printed text, in the title.
_MOST_LISTED = 3

# The tolerance between a number and the same number as printed.
_ALIKE = 1e-3

# The maximum number of characters of any other change in the title.
_MOST_DETAIL = 40


class WhyView(View):
    """A view of an explanation.

    Args:
        explanation: The explanation.
        kernel: The id of the current kernel.

    Attributes:
        all_roots: All roots, including those that are causes of the cell itself.
        one_reason: Why no cause is proved, if the reason is the same for all; else empty.
        causes: The causes that are shown in full; at most a few untested ones.
        folded: The causes that are only named.
        series: The name of each series that is plotted, and its numbers before and after.
        shown: The changes that are listed: each name, and how it changed.
        more: The number of changes that are not listed.
        cleared: What is not the cause, with the reason; paths inside the folder are relative.
    """

    template, keep_head, folded_head = "why", KEEP, FOLDED

    def __init__(self, explanation: Explanation, kernel: str) -> None:
        self.explanation = said = explanation
        self.kernel = kernel
        self._trained = [*find_train_mode(said)]
        self.all_roots = (*self._trained, *said.roots)
        findings = {(cause.finding.level, cause.finding.how) for cause in said.causes}
        level, how = findings.pop() if len(findings) == 1 < len(said.causes) else ("", "")
        self.one_reason = sentence(how) if level == MAY_MATTER else ""
        # Untested causes that a root in another cell already names are not shown.
        told = {(root.kind, root.name) for root in said.roots if root.path}
        causes = [it for it in said.causes if (it.kind, it.name) not in told or self.finding(it)]
        may = [it for it in causes if it.finding.level == MAY_MATTER]
        self.folded = may[_MOST_MAY_MATTER:]
        self.causes = [cause for cause in causes if cause not in self.folded]
        self.series = charted(said.changed)
        changed = list[Change]()  # without numbers that an earlier change already shows
        for each in said.changed:
            if not any(_tells_same(other, each) for other in changed):
                changed.append(each)
        self.shown = [(each.name or each.what, each.detail) for each in changed[:_MOST_CHANGES]]
        self.more = len(changed) - len(self.shown)
        folder = f"{said.run.settings.get(FOLDER) or ''}/"
        self.cleared = [(suspect(it).removeprefix(folder), it.message) for it in said.cleared]

    @property
    def title(self) -> str:
        """The answer in a sentence, after any error that ended one of the runs."""
        return " ".join([*self._cut_short, self._answer, *self._result_again])

    @property
    def _result_again(self) -> list[str]:
        """A sentence if the result equals that of an earlier run of the cell."""
        said = self.explanation
        if said.again is None or said.again == said.against:
            return []
        name, other = (run_phrase(run, self.kernel) for run in (said.run, said.again))
        return [f"{name} equals {other} exactly."]

    @property
    def _answer(self) -> str:
        said = self.explanation
        if said.against is None:
            return said.message
        name, other = (run_phrase(run, self.kernel) for run in (said.run, said.against))
        if said.run.cell != said.against.cell:
            alike = "" if said.changed else ", with the same results"
            return f"{name} and {other} are two cells{alike}. What they found:"
        if said.verdict == "same":
            return f"{name}: {said.message}{say_timed(said.run)}"
        if said.verdict != "explained" and said.unknown:
            named = said.message.startswith(f"{name} ")
            return said.message if named else f"{name}: {said.message}"
        but = "" if said.verdict == "explained" else ", but no recorded input changed"
        runs = f"{self._named(said.run)} compared with {self._named(said.against)}"
        return f"{self.headline}{but} · {runs}{'.' if self._result_again else ''}"

    @property
    def headline(self) -> str:
        """The change that made the user ask: a number with its name, or what differs."""
        said = self.explanation
        shown = (shown_numbers(run) if run else [] for run in (said.against, said.run))
        for then, now in reversed([*zip(*shown, strict=False)]):
            if then.label == now.label and then.number != now.number:
                return f"`{now.label}` {write_step(then.number, now.number, DIGITS)}{now.unit}"
        steps = [each for each in said.changed if _is_step(each)]
        first = min(steps or said.changed, key=lambda each: _ASKED_ABOUT.index(each.what))
        words = _WORDS.get(first.what, "")
        what = words or f"`{first.name or shorten(label_of(said.run.source), _MOST_DETAIL)}`"
        sides = first.before or (), first.after or ()
        if steps:
            return f"{what} {write_step(sides[0][0], sides[1][0], DIGITS)}"
        if all(0 < len(each) <= _MOST_LISTED for each in sides):
            lists = (", ".join(write_digits(x, DIGITS) for x in each) for each in sides)
            return f"{what} {' → '.join(map('[{}]'.format, lists))}"
        if " → " in first.detail and len(first.detail) <= _MOST_DETAIL and not words:
            return f"{what} {first.detail}"
        return f"{what} changed"

    def _named(self, run: Run) -> str:
        """Return the name of a run, with its time if it was before the restart."""
        clock = time.strftime(" (%H:%M)", time.localtime(run.started))
        is_earlier = run.kernel != self.kernel and not run.receipt
        return f"{run_phrase(run, self.kernel)}{clock if is_earlier else ''}"

    @property
    def _cut_short(self) -> Iterator[str]:
        """A sentence for each of the two runs that did not finish."""
        for run in filter(None, (self.explanation.run, self.explanation.against)):
            told = (run.outputs.error or "").rstrip(": ")  # an error may have no message
            error = f" ({shorten(told, _MOST_ERROR)})" if told else ""
            how = "was interrupted" if run.status == "interrupted" else f"failed{error}"
            if run.status != "ok":
                yield f"{run_phrase(run, self.kernel)} {how}."

    @property
    def one_line(self) -> str:
        """The change in a line, if the cell shows something different; else empty."""
        said = self.explanation
        if said.against is None or all(each.what == "variable" for each in said.changed):
            return ""
        again = "" if said.again is None else f" · equals {run_phrase(said.again, self.kernel)}"
        compared = f"{self.headline.replace('`', '')} · {self._named(said.against)}"
        return visible(f"{compared}{again} · %why {run_word(said.run, self.kernel)}")

    @property
    def line_html(self) -> str:
        """The text of ``one_line`` as grey HTML."""
        return fill("line", view=self)

    @property
    def next_step(self) -> str:
        """What to do if nothing explains the difference; else other possible causes."""
        said = self.explanation
        if said.verdict == "explained" and said.unknown:
            return f"Not read in full: {' and '.join(said.unknown[:_MOST_UNKNOWN])}."
        if said.verdict != "unexplained":
            return ""
        if said.against is not None and said.against.cell != said.run.cell:
            alike = "Nothing else that was recorded accounts for it: the difference is their text."
            return alike if said.changed and not said.unknown else ""
        if said.unknown:
            outputs_only = {*said.run.reads, *said.run.writes}.isdisjoint(said.unknown)
            return "" if outputs_only else _ALLOW
        notes = "; ".join(dict.fromkeys([*said.run.notes, *(said.against or said.run).notes]))
        parts = (said.hidden, f"if it is not that, {_CHECK}") if said.hidden else (notes, _CHECK)
        return " ".join(map(sentence, filter(None, (said.repeats.how, *parts))))

    def finding(self, cause: Cause) -> str:
        """Return what experiments say about a cause; empty if ``one_reason`` says it."""
        return "" if self.one_reason else cause.finding.how

    @property
    def answer(self) -> list[Root | Cause]:
        """The roots and causes, in order; a root of the cell itself is shown as its cause."""
        causes = {(cause.kind, cause.name): cause for cause in self.causes}
        shown = list[Root | Cause](self._trained)
        for root in self.explanation.roots:
            each = root if root.path else causes.pop((root.kind, root.name), None)
            shown += [each] if each is not None else []
        return [*shown, *causes.values()]

    @property
    def keep(self) -> tuple[str, ...]:
        """The lines that make the cell give the same result from now on."""
        said = self.explanation
        keep = (*find_keep(said.causes, said.roots, said.run), *said.keep)
        keep = (*(f"{root.name}.eval()" for root in self._trained), *keep)
        if said.against is not None and said.against.receipt:  # a receipt's run cannot be restored
            keep = (*dict.fromkeys(cause.fix for cause in said.causes if cause.fix), *keep)
        return tuple(dict.fromkeys(keep))

    @property
    def way_back(self) -> str:
        """The heading of the commands that bring the result back, or why there are none."""
        remedy = self.explanation.remedy
        told = "; ".join(filter(None, (remedy.obstacle, remedy.note)))
        if remedy.commands:
            possible = "" if remedy.complete else ", if possible"
            return f"To get the earlier result back{possible}{f' ({told})' if told else ''}:"
        if remedy.note:
            return f"The earlier result cannot come back: {remedy.note}."
        no_way = f"The earlier result cannot be brought back: {remedy.obstacle}."
        return no_way if remedy.obstacle else ""

    @property
    def curves(self) -> list[tuple[str, str]]:
        """The name and drawing of each series of numbers that changed."""
        return [(name, fill("curves", paths=draw_curves(*it), box=BOX)) for name, it in self.series]

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        parts = [wrap(self.title, first=""), *self._cause_lines(), *self._way_lines()]
        parts += self._change_lines() if self.explanation.changed else []
        names = "; ".join(f"{name} ({why})" for name, why in self.cleared[:_MOST_CLEARED])
        parts += ["", wrap(f"Not the cause: {names}", first="")] if names else []
        return "\n".join(parts)

    def _cause_lines(self) -> Iterator[str]:
        for each in self.answer:
            if isinstance(each, Root):
                yield wrap(each.message, first="  ◆ ")
                if each.path:
                    yield wrap(say_path(each.path), first="      ")
                continue
            yield wrap(each.message, first="  ▲ ")
            edit = each.proof.splitlines() if each.kind == "code" else ()
            yield from (f"      {visible(line, lines=True)}" for line in edit)
            if self.finding(each):
                yield wrap(self.finding(each), first="      ")
        if self.folded:
            names = ", ".join(map(suspect, self.folded))
            yield wrap(f"{FOLDED}: {names}", first="  ")
        if self.one_reason:
            yield wrap(self.one_reason, first="  ")

    def _way_lines(self) -> Iterator[str]:
        commands, empty = self.explanation.remedy.commands, ""
        if self.way_back:
            yield from (empty, wrap(self.way_back, first=""))
            yield from (f"    {visible(command)}" for command in commands)
        if self.keep:
            yield from (KEEP,) if commands else (empty, KEEP)
            yield from (f"    {visible(line)}" for line in "\n".join(self.keep).split("\n"))
        if self.next_step:
            yield wrap(self.next_step, first="  ")

    def _change_lines(self) -> Iterator[str]:
        yield from ("", "Changed")
        for name, detail in self.shown:
            yield wrap(f"{name}: {detail}", first="  ")
        if self.more:
            yield f"  and {self.more} more"
        for name, pair in self.series:
            yield wrap(name, first="  ")
            yield from map("    {} {}".format, ("then ", "now  ", "apart"), sparklines(*pair))

    def to_json(self, cell: str = "") -> str:
        """Return the view as one line of JSON.

        Args:
            cell: The front end's identifier of the cell, if it differs from the record's.
        """
        said = self.explanation
        cell = cell or said.run.cell

        def named(told: dict[str, object]) -> dict[str, object]:
            return {**told, "name": cell} if told["kind"] == "code" else told

        return write_json(
            schema=2,
            cell={"id": cell, "label": label_of(said.run.source)},
            run=_run(said.run),
            against=said.against and _run(said.against),
            again=said.again and _run(said.again),
            verdict=said.verdict,
            message=said.message + (say_timed(said.run) if said.verdict == "same" else ""),
            changed=[pick(change, "what", "name", "detail") for change in said.changed],
            roots=[
                root_json(root) if root.path else named(root_json(root)) for root in self.all_roots
            ],
            causes=[named(cause_json(cause)) for cause in said.causes],
            back=next(iter(said.remedy.commands), ""),
            keep=self.keep,
            mend=pick(said.remedy, "commands", "complete", "obstacle"),
            cleared=[named(pick(it, "kind", "name", "message")) for it in said.cleared],
        )


def say_timed(run: Run) -> str:
    """Return a sentence ending that lists which values of a run are times, or ""."""
    return f"; times are not compared: {', '.join(run.timed)}" if run.timed else ""


def say_path(names: Sequence[str]) -> str:
    """Return the path from a root, through variables, to the cell; empty without any."""
    return f"→ {' → '.join((*names, 'this cell'))}" if names else ""


def root_json(root: Root) -> dict[str, object]:
    """Return a root as JSON values."""
    return {**pick(root, "kind", "name", "message", "path"), "blame": _blame(root.blame)}


def _blame(blame: Sequence[Blame]) -> list[dict[str, object]]:
    return [{"execution_count": it.run and it.run.execution_count, "how": it.how} for it in blame]


def cause_json(cause: Cause) -> dict[str, object]:
    """Return a cause as JSON values."""
    return {
        **pick(cause, "kind", "name"),
        "blame": _blame(cause.blame),
        **pick(cause, "message", "fix"),
        "proof": cause.finding.level,
        "experiment": cause.finding.how,
        "parts": [pick(part, "path", "detail") for part in cause.finding.parts],
    }


def _is_step(change: Change) -> bool:
    """Return whether a change is from one known number to another."""
    return len(change.before or ()) == len(change.after or ()) == 1


def _tells_same(change: Change, other: Change) -> bool:
    """Return whether two changes show the same numbers, even if one is printed."""
    one, two = ((*(each.before or ()), *(each.after or ())) for each in (change, other))
    near = partial(math.isclose, rel_tol=_ALIKE, abs_tol=_ALIKE) if other.what == "stdout" else eq
    return len(one) == len(two) > 0 and all(map(near, one, two))


def _run(run: Run) -> dict[str, object]:
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(run.started))
    return {**pick(run, "execution_count", "kernel"), "started": started}
