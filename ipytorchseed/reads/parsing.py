"""Texts parsed and compiled without a warning: those are shown when the code runs."""

from __future__ import annotations

import ast
import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "<a cell, read>"
_QUIET = ("ignore", None, Warning, re.compile(re.escape(NAME)), 0)
_MAY_WARN = re.compile(r"\\|[0-9](?:and|else|for|if|in|is|not|or)\b")


@contextmanager
def quiet() -> Iterator[None]:
    """Hide warnings about texts that are compiled as ``NAME``, and no others."""
    filters: list[Any] = warnings.filters  # type: ignore[assignment]  # a list, whatever typeshed says
    filters.insert(0, _QUIET)  # for our text's name alone: nobody else sees it
    try:
        yield
    finally:
        if _QUIET in filters:
            filters.remove(_QUIET)


def parse_text(text: str) -> ast.Module | None:
    """Parse Python; None where it is none.

    Args:
        text: The text.
    """
    try:
        if not _MAY_WARN.search(text):
            return ast.parse(text, NAME)
        with quiet():
            return ast.parse(text, NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_cell(source: str, transform: Callable[[str], str]) -> ast.Module | None:
    """Parse a cell; None where it is no Python.

    Args:
        source: The cell's text.
        transform: Turns a cell's text into Python, as the shell does. It is asked only where the
            text is not Python as it stands, and not kept.
    """
    tree = parse_text(source)
    if tree is not None:
        return tree
    try:
        text: object = transform(source)  # a transformer of the user's may return anything
    except Exception:  # noqa: BLE001 -- a transformer of the user's may raise anything
        return None
    return parse_text(text) if isinstance(text, str) and text != source else None
