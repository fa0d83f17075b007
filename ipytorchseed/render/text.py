"""Text that fits a terminal of 80 columns."""

from __future__ import annotations

import importlib
import io
import random
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH = 80

_STYLE = "rich.style"


def wrap(words: str, first: str) -> str:
    """Break a paragraph at 80 columns, later lines indented as far as the first one's mark.

    Args:
        words: The paragraph.
        first: What its first line begins with.
    """
    later = " " * len(first)
    return textwrap.fill(
        words, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )


def import_rich() -> None:
    """Import rich, which draws a number from python's generator, and put that back."""
    if _STYLE not in sys.modules:
        state = random.getstate()
        importlib.import_module(_STYLE)
        random.setstate(state)


def draw_table(
    title: str, columns: Mapping[str, Mapping[str, Any]], rows: Iterable[Sequence[str]]
) -> str:
    """Draw a table as plain text, without colour.

    Args:
        title: The paragraph above it; empty for none.
        columns: How rich is to set each column, by its heading.
        rows: The text of each cell; nothing in it is markup.

    Returns:
        Lines of at most 80 columns, without trailing blanks or a final newline.
    """
    import_rich()
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
    for heading, setting in columns.items():
        table.add_column(heading, **setting)
    for row in rows:
        table.add_row(*map(Text, row))
    out = io.StringIO()
    console = Console(
        file=out,
        width=WIDTH,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # else rich displays in the notebook instead of writing here
        legacy_windows=False,
    )
    for part in (Text(title), table) if title else (table,):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())
