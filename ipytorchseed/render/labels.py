"""Finds a label for a cell, and for the number that the cell showed last."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.magics import CELL_MAGICS
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.render.text import set_width, visible
from ipytorchseed.session.outputs import NUMBER

# The most letters of a cell's label.
_LABEL = 40

_RUN_BELOW = [[name] for name in CELL_MAGICS]

# Lines by which editors divide scripts into cells. They do not describe the cell.
_NO_LABELS = frozenset({"", "#%%", "# %%"})

# Characters that end the words in front of a number, which name it.
_BETWEEN = lazy_pattern(r"[,;:=|/()\[\]\n\t]")

_LETTER = lazy_pattern(r"[^\W\d]")

# The placeholder for each value in the text that a print writes; a number, for ``NUMBER`` to find.
_PLACE = "7"

# The last letters of format specifications that write exactly one number.
_AS_NUMBER = tuple("eEfFgGdn%")

# Significant digits: the fewest that are written, and enough to distinguish any two numbers.
_FEWEST, _EXACT = 4, 17

# The tolerance between a value and its text without a format: printed tensors are rounded.
_SLACK = 1e-4


# Statements that give a label only if the cell has no other statement.
_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Shown(Struct, frozen=True):
    """A number that a cell showed.

    Attributes:
        label: The name that the cell gives to the number.
        number: The number as shown.
        unit: ``%`` if it was shown as a percentage; else empty.
        is_named: Whether the cell prints the label in front of the number.
    """

    label: str
    number: float
    unit: str = ""
    is_named: bool = False

    def __str__(self) -> str:
        return f"{self.label} {write_digits(self.number, _FEWEST)}{self.unit}"


class _Value(Struct, frozen=True):
    """A value in a call of ``print``.

    Attributes:
        at: The position of the value's placeholder in the text.
        label: The name that the text gives to the value; or empty.
        code: The expression that is printed.
        spec: The format specification; or empty.
    """

    at: int
    label: str
    code: ast.expr
    spec: str


class _Print(Struct, frozen=True):
    """The cell's last call of ``print``.

    Attributes:
        text: The printed text, with one placeholder for each value.
        values: The values, in order.
        is_sure: Whether this call is known to be the last one that prints.
        is_only: Whether this is the cell's only ``print``, and not in a branch.
    """

    text: str
    values: tuple[_Value, ...]
    is_sure: bool
    is_only: bool


def label_of(source: str, width: int | None = None) -> str:
    """Return the first line of a cell's last statement.

    Imports and definitions are skipped if there is another statement.

    Args:
        source: The cell's text.
        width: The columns of a terminal to cut or pad the label to; None for no limit.
    """
    line = _first_line(_last_statement(_below_magics(source)))
    return line if width is None else set_width(line, width).rstrip()


def short_label(source: str) -> str:
    """Return the label of a cell, shortened."""
    return shorten(_last_statement(_below_magics(source)), _LABEL)


def shorten(text: str, most: int) -> str:
    """Return the first line of a text, with an ellipsis if something is cut off."""
    line = _first_line(text)
    return f"{line[:most]}…" if len(line) > most or "\n" in text.strip() else line


def _first_line(text: str) -> str:
    """Return the first line of a text that is neither blank nor a cell marker."""
    lines = map(str.strip, text.splitlines())
    line = next((line for line in lines if line not in _NO_LABELS), "")
    return visible(line.replace("\t", " "))


def write_digits(number: float, digits: int) -> str:
    """Write a number with ``digits`` significant digits; a whole number in full."""
    number = float(number)
    whole = math.isfinite(number) and number.is_integer() and abs(number) < 10**_EXACT
    return str(int(number)) if whole else f"{number:.{digits}g}"


def write_step(before: float, after: float) -> str:
    """Write a change ``0.1 → 0.5``, with enough digits to tell both numbers apart."""
    for digits in range(_FEWEST, _EXACT + 1):
        told = write_digits(before, digits), write_digits(after, digits)
        if told[0] != told[1]:
            return " → ".join(told)
    return ""


def shown_number(run: Run) -> Shown | None:
    """Return the number that a run showed last, with its label; None if unknown."""
    return next(reversed(shown_numbers(run)), None)


def shown_numbers(run: Run) -> list[Shown]:
    """Return the numbers that a run showed last; numbers with a name come last."""
    series = None if run.outputs.result is None else run.outputs.result.series
    if series is not None and len(series) == 1:
        return [Shown(short_label(run.source), series[0])]
    numbers = None if run.outputs.stdout is None else run.outputs.stdout.series
    printed = None if numbers is None else _last_print(run.source)
    return [] if printed is None or not numbers else _match(printed, numbers, run)


def _match(printed: _Print, numbers: tuple[float, ...], run: Run) -> list[Shown]:
    """Match the values of the last print to the printed numbers."""
    values = {value.at: value for value in printed.values}
    found = [*NUMBER.finditer(printed.text)]
    tail = numbers[-len(found) :] if found else ()
    if len(tail) != len(found):
        return []
    # If the only print writes as many numbers as were printed, all of them are from it.
    is_sure = printed.is_sure or (printed.is_only and len(numbers) == len(found))
    shown = list[Shown]()
    for match, number in zip(found, tail, strict=True):
        value = values.get(match.start())
        if value is None:
            if float(match[0]) != number:
                return []
            continue
        known = _known_number(value.code, run)
        if known is not None and not _prints_as(known, number, value.spec):
            return []
        if known is None and not value.spec.endswith(_AS_NUMBER) and len(numbers) != len(found):
            return []
        is_sure |= known is not None
        label = value.label or shorten(ast.unparse(value.code), _LABEL)
        shown.append(Shown(label, number, "%" * value.spec.endswith("%"), bool(value.label)))
    return sorted(shown, key=lambda each: each.is_named) if is_sure else []


def _known_number(code: ast.expr, run: Run) -> float | None:
    """Return the number that a variable held at the end of a run; None if unknown."""
    name = code.id if isinstance(code, ast.Name) else ""
    value = run.writes.get(name) or run.reads.get(name)
    series = None if value is None else value.series
    return series[0] if series is not None and len(series) == 1 else None


def _prints_as(value: float, number: float, spec: str) -> bool:
    """Return whether printing ``value`` with a format can give ``number``."""
    value *= 100 if spec.endswith("%") else 1
    decimals = spec[:-1].rpartition(".")[2]
    if decimals.isdecimal() and spec.endswith(("f", "F", "%")):
        return math.isclose(value, number, abs_tol=0.51 * 10.0 ** -int(decimals), rel_tol=1e-12)
    return math.isclose(value, number, rel_tol=_SLACK, abs_tol=_SLACK)


@lru_cache(maxsize=256)
def _last_print(source: str) -> _Print | None:
    """Find a cell's last call of ``print`` in the cell's text."""
    tree = None if is_too_long(source) else parse_text(_below_magics(source))
    prints = [] if tree is None else [*_prints_in(tree.body, branch=False)]
    if tree is None or not prints:
        return None
    call, branch = prints[-1]
    end = call.end_lineno or 0
    later = (node for each in tree.body if each.lineno > end for node in ast.walk(each))
    is_sure = not any(isinstance(node, ast.Call) for node in later)
    is_only = len(prints) == 1 and not branch
    text, values = "", list[_Value]()
    for part, code, spec in _parts_of(call):
        if code is not None:
            after = values[-1].at + len(_PLACE) if values else 0
            values.append(_Value(len(text), _label_before(text[after:]), code, spec))
        text += part
    is_sure = is_sure and (len(prints) == 1 or not branch)
    return _Print(text, tuple(values), is_sure, is_only)


def _label_before(text: str) -> str:
    """Return the words at the end of a text, which name the number that follows."""
    words = _BETWEEN.split(text.rstrip(" \t\n\r:=(["))[-1]
    letter = _LETTER.search(words)
    return words[letter.start() :] if letter else ""


def _prints_in(body: list[ast.stmt], *, branch: bool) -> Iterator[tuple[ast.Call, bool]]:
    """Yield each call of ``print``, and whether it is in a branch of an ``if``."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and not call.keywords and _name_of(call.func) == "print":
            yield call, branch
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list):
                yield from _prints_in(inner, branch=branch or isinstance(statement, ast.If))


def _parts_of(call: ast.Call) -> Iterator[tuple[str, ast.expr | None, str]]:
    """Yield the parts of a printed text, with code and format if a part is a value."""
    for place, argument in enumerate(call.args):
        yield " " * bool(place), None, ""
        for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
            if isinstance(part, ast.Constant):
                yield str(part.value), None, ""
            elif isinstance(part, ast.FormattedValue):
                spec = part.format_spec
                yield _PLACE, part.value, "" if spec is None else ast.unparse(spec)[2:-1]
            else:
                yield _PLACE, part, ""


def _name_of(code: ast.expr) -> str:
    """Return the text of a name, attribute or subscript; empty for any other code."""
    return ast.unparse(code) if isinstance(code, ast.Name | ast.Attribute | ast.Subscript) else ""


def _below_magics(source: str) -> str:
    """Return a cell without leading magics that run the lines below, as ``%%time``."""
    lines = source.lstrip().split("\n")
    while len(lines) > 1 and lines[0].startswith("%%") and lines[0][2:].split()[:1] in _RUN_BELOW:
        del lines[0]
    return "\n".join(lines)


def _last_statement(source: str) -> str:
    """Return the first line of a cell's last statement, preferably no definition."""
    tree = None if is_too_long(source) else parse_text(source)  # None for a cell with a line magic
    body = tree.body if tree is not None else []
    told = [each for each in body if not isinstance(each, _DEFINITIONS)] or body
    segment = ast.get_source_segment(source, told[-1]) if told else None
    if segment:
        return segment.partition("\n")[0]
    lines = source.rstrip().split("\n")
    begins = (line for line in reversed(lines) if line[:1].strip() and line[0] not in "#)]}%")
    return next(begins, source)
