"""Numbers in a notebook's text that its outputs no longer show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from ipytorchseed.checking.grading import NUMBER
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import STREAMS, Outputs, Pair, joined, read_html, stream_text
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.session.noise import without_noise
from ipytorchseed.why.changes import ROUNDING

# The fewest significant digits of a number to look for: shorter ones occur by chance.
_DIGITS = 3

_YEARS = range(1900, 2100)
_NO_PROSE = lazy_pattern(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)"  # fenced code
    r"|<!--(?:(?!-->|<!--).)*-->|<(a|code|pre|h[1-6]|script|style)\b(?:(?!</?\2\b).)*</\2>"
    r"|<[^<>]{1,999}>"
    r"|^ {0,3}#{1,6}[ \t][^\n]*|^[^\n|]+\n {0,3}(?:=+|-+)[ \t]*$"  # headings
    r"|(`+)(?!`)[^\n]{1,999}?\3"  # a code span
    r"|^ {0,3}\[[^\]\n]{1,999}\]:[^\n]*|!?\[[^\[\]\n]{0,999}\]\([^()\n]{0,999}\)"  # links
    r"|\b(?:https?://|www\.)\S+",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_TEXTS = "text/plain", "text/html", "text/markdown", "text/latex"


class StaleNumber(Struct, frozen=True):
    """A number in the text that a saved output shows and no fresh output does.

    Attributes:
        number: The number, as written in the text.
        place: The text's place among the code cells, in words.
        index: The index of the text's cell.
        cell: The first code cell whose saved output shows the number.
        now: What that cell shows instead; empty if that is unknown.
    """

    number: str
    place: str
    index: int
    cell: Cell
    now: str = ""

    @property
    def message(self) -> str:
        """A sentence with both places."""
        shows = "no longer shows it" if not self.now else f"now shows {self.now}"
        return f"{self.place} says {self.number}; {self.cell.name} {shows}"


Pairs = Mapping[int, Pair]


def find_stale(notebook: Notebook, pairs: Pairs) -> list[StaleNumber]:
    """Return the numbers in the text that are out of date, in the order of the text.

    Args:
        notebook: The notebook, as it was saved.
        pairs: The saved and the fresh outputs of each cell that was compared, by its index.
    """
    spoken = [*_spoken(notebook)]
    if not spoken:
        return []
    saved: dict[float, tuple[Cell, str]] = {}
    shown: set[float] = set()
    for cell in notebook.cells:
        unchanged = (notebook.node.cells[cell.index].outputs,) * 2  # for a cell that was not run
        texts = [[*map(_numbers, _texts(each))] for each in pairs.get(cell.index, unchanged)]
        shown.update(float(each) for some in texts[1] for each in some)
        for place, some in enumerate(texts[0]):
            others = texts[1][place] if len(texts[0]) == len(texts[1]) else []
            there = others if len(others) == len(some) else [""] * len(some)
            for each, now in zip(some, there, strict=True):
                saved.setdefault(float(each), (cell, now))
    return [
        StaleNumber(number, place, index, *saved[value])
        for index, place, number in spoken
        for value in [float(number.replace(",", ""))]
        if value in saved and not _is_shown(number, value, shown)
    ]


def _is_shown(number: str, value: float, shown: set[float]) -> bool:
    """Return whether an output shows a number, perhaps with more digits."""
    digits = len(number.partition(".")[2])
    limit = max(abs(value) * ROUNDING, 0 if "e" in number.lower() else 0.5 * 10**-digits)
    return any(abs(each - value) <= limit for each in shown)


def _spoken(notebook: Notebook) -> Iterator[tuple[int, str, str]]:
    """Yield each number in prose, with its cell's index and place."""
    for index, node in enumerate(notebook.node.cells):
        if node.cell_type == "markdown":
            after = [f"above {cell.name}" for cell in notebook.runnable if cell.index > index]
            place = [*after, f"below {notebook.runnable[-1].name}"][0]
            for found in NUMBER.findall(_NO_PROSE.sub(" ", node.source)):
                number = found.rstrip(".,")
                if _is_result(number):
                    yield index, f"the text {place}", number


def _is_result(number: str) -> bool:
    digits = number.lstrip("+-").replace(",", "").lower().partition("e")[0]
    if digits.isdigit() and "," not in number:
        if len(digits) == 4 and int(digits) in _YEARS:  # noqa: PLR2004
            return False
        digits = digits.rstrip("0")
    return len(digits.replace(".", "").lstrip("0")) >= _DIGITS


def _texts(outputs: Outputs) -> Iterator[str]:
    yield from (stream_text(outputs, name, timed=True) for name in STREAMS)
    for each in outputs:
        data = each.get("data", {})
        for kind in _TEXTS:
            if kind in data:
                text = joined(data[kind])
                yield read_html(text) if kind == "text/html" else text


def _numbers(text: str) -> list[str]:
    """Return the numbers of an output, without times."""
    found = NUMBER.findall(without_noise(text, timed=True))
    return [each.replace(",", "") for each in found]
