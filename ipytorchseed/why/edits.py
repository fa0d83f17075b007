"""Describes an edit of a cell in one line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import takewhile

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.words import many

# Lines of at most this many characters are quoted in full. Longer ones are cut to the edited
# argument.
_SHORT = 40

# A piece of a line: a bracket or comma, or the text up to the next one.
_PIECE = lazy_pattern(r"[(\[{,)\]}]|[^(\[{,)\]}]+")

# A keyword argument or a comparison, without brackets.
_EDITABLE = lazy_pattern(r"[^()\[\]{}'\"]*[=<>][^()\[\]{}'\"]*")

# The maximum numbers of edited lines to describe, and of lines of a diff to show.
_MOST_DESCRIBED, _MOST_SHOWN = 2, 16


def say_edit(before: str, after: str) -> tuple[str, str]:
    """Describe an edit in one line: ``lr=3e-3`` → ``lr=1e-2``.

    Args:
        before: The text of the cell before the edit.
        after: The text after it.

    Returns:
        The description, and the diff. The diff is "" if the description says it all.
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
    """Return two lines; if they are long, only the edited argument or comparison."""
    if max(len(old), len(new)) > _SHORT:
        sides = [_PIECE.findall(line) for line in (old, new)]
        start = _count_alike(*sides)
        end = _count_alike(*(side[start:][::-1] for side in sides))
        inner = ["".join(side[start : len(side) - end]).strip(",; ") for side in sides]
        if all(_EDITABLE.fullmatch(each) for each in inner):
            return inner[0], inner[1]
    return old, new


def _count_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many pieces two lines have in common at the beginning."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])
