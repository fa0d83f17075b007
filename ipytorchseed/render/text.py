"""Fits text to a terminal of up to 80 columns, and escapes invisible characters."""

from __future__ import annotations

import io
import os
import random
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

WIDTH = 80

_NARROWEST = 40

# A module that rich imports whenever it draws.
_STYLE = "rich.style"

# The modules of rich that we imported, by name.
_rich: dict[str, ModuleType] = {}

# The maximum number of characters shown of a paragraph: an error message may be a whole file.
_LONGEST = 4_000

# Columns of a progress bar.
_BAR = 12

# Invisible characters that some words and emoji need.
_JOINERS = "\u200c\u200d"


def width() -> int:
    """Return how many columns text may take: 80, or fewer in a narrower terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    except (AttributeError, OSError, TypeError, ValueError):  # stdout was replaced
        columns = 0
    return max(_NARROWEST, min(WIDTH, columns or WIDTH))


class _Escapes(dict[int, str]):
    """A table for ``str.translate`` that escapes invisible characters as Python does."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        seen = letter.isprintable() or letter in _JOINERS or unicodedata.category(letter) == "Zs"
        return self.setdefault(code, letter if seen else ascii(letter)[1:-1])


_ESCAPES = _Escapes()


def visible(text: str, *, lines: bool = False) -> str:
    """Escape characters that are invisible, or that change how a text is displayed.

    These are control characters (a terminal obeys them, and a line end splits a line of a log),
    marks that change the direction of writing, other invisible characters, and lone surrogates,
    which UTF-8 cannot encode.

    Args:
        text: A text from outside.
        lines: Whether to keep line ends, and to expand tabs.
    """
    if text.isprintable():
        return text
    if lines:
        return "\n".join(line.translate(_ESCAPES) for line in text.expandtabs(4).split("\n"))
    return text.translate(_ESCAPES)


def wrap(words: str, first: str) -> str:
    """Wrap a paragraph at ``width()``, with a hanging indent below the prefix.

    Args:
        words: The paragraph.
        first: The prefix of its first line.
    """
    shown = visible(words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …")
    later = " " * len(first)
    return textwrap.TextWrapper(width(), first, later, break_on_hyphens=False).fill(shown)


def set_width(text: str, width: int) -> str:
    """Cut or pad a line to ``width`` columns of a terminal; some letters take two."""
    from rich.cells import set_cell_size

    return set_cell_size(visible(text), width)


@contextmanager
def rich_apart() -> Iterator[None]:
    """Allow imports of rich in the block without affecting the user's program.

    rich draws a number from Python's generator when it is imported. Afterwards, the generator is
    restored, and our modules are removed from ``sys.modules``: a later import by the user draws as
    usual.
    """
    if _STYLE in sys.modules:  # the user has imported rich
        yield
        return
    theirs = _take_rich()
    state = None if _rich else random.getstate()
    sys.modules.update(_rich)
    try:
        yield
    finally:
        _rich.update(_take_rich())
        sys.modules.update(theirs)
        if state is not None:
            random.setstate(state)


def _take_rich() -> dict[str, ModuleType]:
    """Remove rich's modules from ``sys.modules`` and return them."""
    names = [name for name in [*sys.modules] if name.partition(".")[0] == "rich"]
    return {name: sys.modules.pop(name) for name in names}


@rich_apart()
def draw_table(title: str, columns: Mapping[str, Any], rows: Iterable[Sequence[str]]) -> str:
    """Draw a table as plain text, without colours.

    Args:
        title: The paragraph above the table; empty for none.
        columns: rich's options for each column, by the column's heading.
        rows: The text of each cell, which is not parsed as markup.

    Returns:
        Lines of at most ``width()`` columns, without trailing spaces or a final newline.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
    for heading, setting in columns.items():
        table.add_column(Text(visible(heading)), **setting)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    out = io.StringIO()
    console = Console(
        file=out,
        width=width(),
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # else rich displays in the notebook instead of writing here
        legacy_windows=False,
    )
    for part in (Text(visible(title)), table) if title else (table,):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def bar(made: int, of: int, what: str, most: str = "") -> str:
    """Draw a progress bar with the current step.

    Args:
        made: How many steps are done.
        of: How many steps there are.
        what: The current step.
        most: Words after the number of steps, such as ``at most``.
    """
    drawn = "█" * round(_BAR * made / of)
    return f"{drawn:░<{_BAR}} {made} of {of}{most and ' '}{most} · {what}"
