"""Finds a label for a cell, and for the number that the cell showed last."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.magics import CELL_MAGICS
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.render.text import set_width, visible
from ipytorchseed.session.outputs import NUMBER
from ipytorchseed.why.value_changes import write_digits

# The maximum number of characters in a cell's label.
_LABEL = 40

_RUN_BELOW = [[name] for name in CELL_MAGICS]

# Lines with which editors divide scripts into cells. They do not describe the cell.
_NO_LABELS = frozenset({"", "#%%", "# %%"})

# Characters that end the words in front of a number, which name it.
_BETWEEN = lazy_pattern(r"[,;:=|/()\[\]\n\t]")

_LETTER = lazy_pattern(r"[^\W\d]")

# The placeholder for each value in the text that a print writes; a number, for ``NUMBER`` to find.
_PLACE = "7"

# The last letters of format specifications that write exactly one number.
_AS_NUMBER = tuple("eEfFgGdn%")

# Significant digits of a number that a cell showed.
DIGITS = 4

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
        return f"{self.label} {write_digits(self.number, DIGITS)}{self.unit}"


class _Print(NamedTuple):
    """The cell's last call of ``print``.

    Attributes:
        text: The printed text, with one placeholder for each value.
        values: The values, by the position of the placeholder: the name that the text gives to the
            value, or empty; the expression that is printed; the format specification, or empty.
        is_sure: Whether this call is known to be the last one that prints.
        is_only: Whether this is the cell's only ``print``, and not in a branch.
    """

    text: str
    values: dict[int, tuple[str, ast.expr, str]]
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


def shorten(text: str, most: int) -> str:
    """Return the first line of a text, with an ellipsis if something is cut off."""
    line = _first_line(text)
    return f"{line[:most]}…" if len(line) > most or "\n" in text.strip() else line


def _first_line(text: str) -> str:
    """Return the first line of a text that is neither blank nor a cell marker."""
    line = next((line for line in map(str.strip, text.splitlines()) if line not in _NO_LABELS), "")
    return visible(line.replace("\t", " "))


def shown_numbers(run: Run) -> list[Shown]:
    """Return the numbers that a run showed last; numbers with a name come last."""
    series = None if run.outputs.result is None else run.outputs.result.series
    if series is not None and len(series) == 1:
        return [Shown(shorten(label_of(run.source), _LABEL), series[0])]
    numbers = None if run.outputs.stdout is None else run.outputs.stdout.series
    printed = None if numbers is None else _last_print(run.source)
    return [] if printed is None or not numbers else _match(printed, numbers, run)


def _match(printed: _Print, numbers: tuple[float, ...], run: Run) -> list[Shown]:
    """Match the values of the last print to the printed numbers."""
    found = [*NUMBER.finditer(printed.text)]
    if not 0 < len(found) <= len(numbers):
        return []
    # If the only print writes as many numbers as were printed, all of them are from it.
    are_all = len(numbers) == len(found)
    is_sure = printed.is_sure or (printed.is_only and are_all)
    shown = list[Shown]()
    for match, number in zip(found, numbers[-len(found) :], strict=True):
        if match.start() not in printed.values:
            if float(match[0]) != number:
                return []
            continue
        label, code, spec = printed.values[match.start()]
        name = ast.unparse(code)
        value = run.writes.get(name) or run.reads.get(name)
        if value is not None and value.series is not None and len(value.series) == 1:
            if not _prints_as(value.series[0], number, spec):
                return []
            is_sure = True
        elif not spec.endswith(_AS_NUMBER) and not are_all:
            return []
        unit = "%" * spec.endswith("%")
        shown.append(Shown(label or shorten(name, _LABEL), number, unit, bool(label)))
    return sorted(shown, key=lambda each: each.is_named) if is_sure else []


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
    is_last = not any(isinstance(node, ast.Call) for node in later)
    text, after = "", 0
    values: dict[int, tuple[str, ast.expr, str]] = {}
    for part, code, spec in _parts_of(call):
        if code is not None:  # the words at the end of the text name the number that follows
            words = _BETWEEN.split(text[after:].rstrip(" \t\n\r:=(["))[-1]
            letter = _LETTER.search(words)
            values[len(text)] = words[letter.start() :] if letter else "", code, spec
            after = len(text) + len(_PLACE)
        text += part
    is_one = len(prints) == 1
    return _Print(text, values, is_last and (is_one or not branch), is_one and not branch)


def _prints_in(body: list[ast.stmt], *, branch: bool) -> Iterator[tuple[ast.Call, bool]]:
    """Yield each call of ``print``, and whether it is in a branch of an ``if``."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.Expr(ast.Call(ast.Name("print"), keywords=[]) as call):
                yield call, branch
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, [])
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


def _below_magics(source: str) -> str:
    """Return a cell without leading magics that run the lines below: ``%%time``."""
    lines = source.lstrip().split("\n")
    while len(lines) > 1 and lines[0].startswith("%%") and lines[0][2:].split()[:1] in _RUN_BELOW:
        del lines[0]
    return "\n".join(lines)


def _last_statement(source: str) -> str:
    """Return the first line of a cell's last statement: no definition, if possible."""
    tree = None if is_too_long(source) else parse_text(source)  # None for a cell with a line magic
    body = tree.body if tree is not None else []
    told = [each for each in body if not isinstance(each, _DEFINITIONS)] or body
    if told:
        return (ast.get_source_segment(source, told[-1]) or "").partition("\n")[0]
    lines = source.rstrip().split("\n")
    begins = (line for line in reversed(lines) if line[:1].strip() and line[0] not in "#)]}%")
    return next(begins, source)
