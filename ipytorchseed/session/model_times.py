"""Removes the times that libraries show of the fits that they made from text."""

from __future__ import annotations

import re

from ipytorchseed.patterns import lazy_pattern

_NAME = r"\b(?:(?:mean_|std_)?(?:fit|score)|refit)_time\b"
_NAMED = lazy_pattern(_NAME)
_ITEM = lazy_pattern(
    rf"('{_NAME}':\s{{0,99}})(?:array\()?(?:\[[^\[\]]{{0,9999}}\]|(?:np\.float64\()?[-\d.e]{{1,30}})"
)
_NUMBER = lazy_pattern(r"(?<!\S)-?\.?\d")
_TOKEN = lazy_pattern(r"\S+")

_EPOCH, _DURATION = "epoch", "dur"
"""Columns of the log that skorch prints of a training, the second one its last."""

_FITTED = "fitted-att-type"
_KEEPS = lazy_pattern(r"[>\s](?:refit_time_|cv_results_)\s{0,99}<")
"""In scikit-learn's diagrams: the class of a cell beside what a fit found, and what holds times."""

# None goes on beyond where another one begins: a text that opens many would take its square.
_TABLE = lazy_pattern(r"<table\b(?:(?!</?table\b).)*</table>", re.DOTALL)
_ROW = lazy_pattern(r"<tr\b(?:(?!</?tr\b).)*</tr>", re.DOTALL)
_CELL = lazy_pattern(r"(<t[dh]\b[^<>]*>)((?:(?!</?t[dh]\b).)*)(?=</t[dh]>)", re.DOTALL)


def without_model_times(text: str) -> str:
    """Remove what scikit-learn and skorch say of the time that fits, scores and epochs took.

    Args:
        text: A dictionary, a table of pandas, or a column of one, as it is shown; or HTML; or a
            log of epochs.
    """
    if _DURATION in text and _EPOCH in text:
        text = _without_durations(text)
    if _FITTED in text and _KEEPS.search(text):
        text = _ROW.sub(_without_value, text)
    if "_time" not in text or not _NAMED.search(text):
        return text
    if "<table" in text and text.count("<table") == text.count("</table>"):
        return _TABLE.sub(lambda table: _without_cells(table.group()), text)
    return _without_columns(_ITEM.sub(r"\1", text))


def _without_durations(text: str) -> str:
    """Remove how long epochs took from a log of them."""
    lines, columns = [], 0
    for line in text.split("\n"):
        words = line.split()
        if _EPOCH in words and words[-1] == _DURATION:
            columns = len(words)
            lines.append(" ".join(words))
        elif columns and len(words) in (columns, columns - 1) and _is_row(words):
            lines.append(" ".join(words[:-1]))  # a column may be empty: whether it was saved
        else:
            columns = columns if words else 0
            lines.append(line)
    return "\n".join(lines)


def _is_row(words: list[str]) -> bool:
    plain = words[0].isdecimal() and _NUMBER.match(words[-1]) is not None
    return plain or not any(each.strip("-") for each in words)


def _without_value(row: re.Match[str]) -> str:
    """Remove the last cell of a row of a diagram, if times are in it."""
    cells = [*_CELL.finditer(row.group())] if _KEEPS.search(row.group()) else []
    if not cells:
        return row.group()
    start, end = cells[-1].span(2)
    return row.group()[:start] + row.group()[end:]


def _without_columns(text: str) -> str:
    """Remove columns and rows of times from plain text, where a column ends below its name."""
    lines, ends = [], set[int]()
    for line in text.split("\n"):
        names = [*_NAMED.finditer(line)]
        numbers = _NUMBER.search(line) is not None
        if numbers and len(names) == 1 and not names[0].start():
            lines.append(names[0].group())  # a row
        elif names and not numbers:
            ends = {name.end() for name in names}
            lines.append(" ".join(line.split()))  # as wide as its numbers are
        elif ends and line.strip():
            kept = (each.group() for each in _TOKEN.finditer(line) if each.end() not in ends)
            lines.append(" ".join(kept))
        else:
            ends = set()
            lines.append(line)
    return "\n".join(lines)


def _without_cells(table: str) -> str:
    """Remove the cells below a name of a time, and those behind one that has its row."""
    columns: set[int] = set()

    def row(found: re.Match[str]) -> str:
        nonlocal columns
        cells = [*_CELL.finditer(found.group())]
        names = {at for at, cell in enumerate(cells) if _NAMED.fullmatch(cell[2].strip())}
        if names == {0} and any(_NUMBER.search(cell[2]) for cell in cells[1:]):
            dropped = {*range(1, len(cells))}
        elif names:
            columns, dropped = names, set()
        else:
            dropped = columns
        places = iter(range(len(cells)))
        return _CELL.sub(
            lambda cell: cell[1] if next(places) in dropped else cell.group(), found.group()
        )

    return _ROW.sub(row, table)
