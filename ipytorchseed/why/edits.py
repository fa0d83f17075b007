"""Describes an edit of a cell in one line."""

from __future__ import annotations

import difflib
from itertools import accumulate, takewhile

from ipytorchseed.why.words import many

# The most letters of a line that is quoted whole. Longer lines are cut to the edited argument.
_SHORT = 40

# The marks of a keyword argument or a comparison.
_COMPARES = frozenset("=<>")

# The most edited lines that are described, and the most lines of a diff that are shown.
_MOST_DESCRIBED, _MOST_SHOWN = 2, 16

_OPENING, _CLOSING = "([{", ")]}"


def say_edit(before: str, after: str) -> tuple[str, str]:
    """Describe an edit in one line: ``lr=3e-3`` → ``lr=1e-2``.

    Args:
        before: The text of the cell before the edit.
        after: The text after it.

    Returns:
        The description, and the lines of the diff. The diff is "" if the description says it all.
    """
    old, new = before.splitlines(), after.splitlines()
    told, diff = list[str](), list[str]()
    for tag, *ends in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed, added = old[ends[0] : ends[1]], new[ends[2] : ends[3]]
            diff += [*map("-{}".format, removed), *map("+{}".format, added)]
            told += _tell(_stripped(removed), _stripped(added))
    if len(diff) > _MOST_SHOWN:
        diff[_MOST_SHOWN:] = [f" … {many(len(diff) - _MOST_SHOWN, 'more line')}"]
    if not told:
        return "only its blank lines", "\n".join(diff)
    if len(told) <= _MOST_DESCRIBED:
        return " and ".join(told), ""
    return f"{told[0]} and {many(len(told) - 1, 'more line')}", "\n".join(diff)


def _stripped(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _tell(removed: list[str], added: list[str]) -> list[str]:
    """Return phrases about lines that were replaced, added or removed."""
    if len(removed) == len(added):
        return [*map(_tell_pair, removed, added)]
    first, *others = [f"`{line}`" for line in added or removed]
    verb = "removed" if not added else "now" if removed else "added"
    return [f"{verb} {first}", *others]


def _tell_pair(old: str, new: str) -> str:
    if old == new:
        return f"the indentation of `{new}`"
    return "`{}` → `{}`".format(*_narrow(old, new))


def _narrow(old: str, new: str) -> tuple[str, str]:
    """Return two lines, each cut to the differing argument or comparison if long."""
    start = _count_alike(old, new)
    alike = _count_alike(old[start:][::-1], new[start:][::-1])
    while start > 0 and max(len(old), len(new)) > _SHORT:
        start = _left(old, start)
        alike = len(old) - _right(old, len(old) - alike)
        sides = old[start : len(old) - alike].strip(), new[start : len(new) - alike].strip()
        if all(_is_whole(side) and not _COMPARES.isdisjoint(side) for side in sides):
            return sides
        opens = old[start - 1 : start] in _OPENING
        start, alike = max(start - 1, 0), max(alike - opens, 0)
    return old, new


def _count_alike(one: str, other: str) -> int:
    """Return how many letters two texts have in common at the beginning."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


def _is_whole(text: str) -> bool:
    """Return whether every bracket and quotation mark has its counterpart."""
    depths = [0, *accumulate((each in _OPENING) - (each in _CLOSING) for each in text)]
    return min(depths) == depths[-1] == 0 and not any(text.count(mark) % 2 for mark in "\"'")


def _left(text: str, start: int) -> int:
    """Return the start of the argument that contains position ``start``."""
    depth = 0
    while start and (depth or text[start - 1] not in f",{_OPENING}"):
        start -= 1
        depth += (text[start] in _CLOSING) - (text[start] in _OPENING)
    return start


def _right(text: str, end: int) -> int:
    """Return the end of the argument that contains position ``end``."""
    depth = 0
    while end < len(text) and (depth or text[end] not in f",{_CLOSING}"):
        depth += (text[end] in _OPENING) - (text[end] in _CLOSING)
        end += 1
    return end
