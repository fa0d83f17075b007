"""Finds tables, variables, random functions and clocks in SQL and pandas queries."""

from __future__ import annotations

import re

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import QUERY_CLOCK, QUERY_RANDOM

# The first word of a query.
_FIRST = {"create", "delete", "insert", "replace", "select", "update", "with"}

_SAMPLE = r"\b(?:tablesample|using\s+sample)\b"

_RANDOM = lazy_pattern(
    r"\b(?:gen_random_uuid|newid|rand|random|uuid)\s*\(\s*\)|\brandomblob\s*\("
    rf"|{_SAMPLE}(?!(?:(?!{_SAMPLE}).)*\brepeatable\b)",
    re.IGNORECASE | re.DOTALL,
)

# Clock functions of SQLite, DuckDB, PostgreSQL, MySQL and SQL Server.
_CLOCK = lazy_pattern(
    r"\bcurrent_(?:date|time|timestamp)\b|\b(?:getdate|julianday|now|sysdate|unixepoch)\s*\(\s*\)"
    r"|\(\s*'now'",
    re.IGNORECASE,
)

_TABLE = lazy_pattern(r"\b(?:from|join)\s+([A-Za-z_]\w{0,200})", re.IGNORECASE)

_VARIABLE = lazy_pattern(r"@([A-Za-z_]\w{0,200})")

# Longer strings, in characters, are not searched.
_MAX_LENGTH = 10_000


def asked_by_query(text: str) -> set[str]:
    """Return the nondeterministic functions that an SQL query calls.

    Args:
        text: Any text. If it is not a query, the result is empty.
    """
    if not _is_query(text):
        return set()
    rows = ((_RANDOM, QUERY_RANDOM), (_CLOCK, QUERY_CLOCK))
    return {name for pattern, name in rows if pattern.search(text)}


def names_in_query(text: str) -> list[str]:
    """Return the variables in a pandas query (``price > @limit``), or tables in SQL."""
    return [*_VARIABLE.findall(text), *(_TABLE.findall(text) if _is_query(text) else ())]


def seeds_database(text: str) -> bool:
    """Return whether a query calls ``setseed``, a function of DuckDB and PostgreSQL."""
    return _is_query(text) and "setseed" in text.lower()


def _is_query(text: str) -> bool:
    if len(text) > _MAX_LENGTH:
        return False
    words = text.lstrip("( \t\r\n").split(None, 1)
    return len(words) > 1 and words[0].lower() in _FIRST
