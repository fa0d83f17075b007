"""Text that fits a terminal of 80 columns or fewer, and shows every character that is in it."""

from __future__ import annotations

import io
import os
import random
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ipytorchseed.patterns import lazy_pattern

WIDTH = 80

_NARROWEST = 40

_STYLE = "rich.style"
"""The module of rich that draws."""

_rich: dict[str, ModuleType] = {}
"""Its modules as we imported them."""

_TAB = 4

_LONGEST = 4_000
"""Characters of a paragraph that are shown: an error's message may be a whole file."""

MOST_OF_NAME = 80
"""Characters of a name that are shown."""

_BAR = 12
"""Columns of a bar."""

_HEAD = 60
"""Those of its beginning, where it is longer; the rest is its end."""

_LONG_NAME = lazy_pattern(rf"(?<![\w/\\.-])\w[\w.\[\]]{{{MOST_OF_NAME},}}(?![\w/\\-])")
"""A name longer than that, as of an item: ``x[0][0][0]``. Parts of paths are none."""

_JOINERS = "\u200c\u200d"
"""Invisible, and part of how words and emoji are written."""


def width() -> int:
    """Return how many columns text may take: 80, or as many as a narrower terminal has."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    except (AttributeError, OSError, TypeError, ValueError):  # it was replaced
        columns = 0
    return max(_NARROWEST, min(WIDTH, columns or WIDTH))


class _Escapes(dict[int, str]):
    """For ``str.translate``: characters that are not shown, as Python escapes them."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        seen = letter.isprintable() or letter in _JOINERS or unicodedata.category(letter) == "Zs"
        self[code] = letter if seen else letter.encode("unicode_escape").decode("ascii")
        return self[code]


_ESCAPES = _Escapes()


def visible(text: str, *, lines: bool = False) -> str:
    """Return a text as it is shown: escaped, with long names shortened.

    Args:
        text: From outside: a name, a path, a message.
        lines: Whether line ends are meant, and tabs indent.
    """
    if len(text) > MOST_OF_NAME:
        text = _LONG_NAME.sub(_shortened, text)
    return escaped(text, lines=lines)


def _shortened(name: re.Match[str]) -> str:
    return f"{name[0][:_HEAD]}…{name[0][_HEAD + 1 - MOST_OF_NAME :]}"


def escaped(text: str, *, lines: bool = False) -> str:
    """Escape what would not be seen in a text, or would move, colour or turn what is seen.

    That is control characters (a terminal obeys them, and a log takes what follows a line's end for
    a line of its own), marks that reverse the direction of writing, other invisible ones, and
    halves of surrogate pairs, which no file can hold.

    Args:
        text: From outside, in full: code, a command, a path that programs read.
        lines: Whether line ends are meant, and tabs indent.
    """
    if text.isprintable():
        return text
    if lines:
        return "\n".join(line.translate(_ESCAPES) for line in text.expandtabs(_TAB).split("\n"))
    return text.translate(_ESCAPES)


def wrap(words: str, first: str) -> str:
    """Break a paragraph at ``width()``, later lines indented as far as the first one's mark.

    Args:
        words: The paragraph.
        first: What its first line begins with.
    """
    later = " " * len(first)
    shown = visible(words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …")
    return textwrap.fill(
        shown, width(), initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )


def set_width(text: str, width: int) -> str:
    """Cut or fill a line to so many columns of a terminal, where some letters take two."""
    from rich.cells import set_cell_size

    return set_cell_size(visible(text), width)


@contextmanager
def rich_apart() -> Iterator[None]:
    """Import rich and use it inside, unseen by the user, who may import it later.

    rich draws a number from python's generator as it is imported. What we import takes none, and
    is no longer in ``sys.modules`` afterwards: the user's own import then draws as ever.
    """
    if _STYLE in sys.modules:  # the user's
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
    """Take rich's modules out of those that are imported."""
    names = [name for name in [*sys.modules] if name.partition(".")[0] == "rich"]
    return {name: sys.modules.pop(name) for name in names}


@rich_apart()
def draw_table(
    title: str, columns: Mapping[str, Mapping[str, Any]], rows: Iterable[Sequence[str]]
) -> str:
    """Draw a table as plain text, without colour.

    Args:
        title: The paragraph above it; empty for none.
        columns: How rich is to set each column, by its heading.
        rows: The text of each cell; nothing in it is markup.

    Returns:
        Lines of at most ``width()`` columns, without trailing blanks or a final newline.
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
    """Draw how far something is, and say what is done now.

    Args:
        made: What is done.
        of: What there is to do.
        what: What is done now.
        most: What to say of ``of``, as ``at most``.
    """
    drawn = "█" * round(_BAR * made / of)
    return f"{drawn:░<{_BAR}} {made} of {of}{most and ' '}{most} · {what}"
