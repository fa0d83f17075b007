"""Finds in compiled code where it reads and sets variables of the notebook."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from types import CodeType

from msgspec import Struct

_WORD = re.compile(r"[^\W\d]\w*")


class Use(Struct, frozen=True):
    """One place in code that reads or sets a variable.

    Attributes:
        name: The variable.
        is_read: Whether it is read there; else it is set or deleted.
        part: The part of it that is read: ``.lr``, ``['rate']``; empty for all of it.
        call: If it is the shell, what is called there: ``run_cell_magic time``.
    """

    name: str
    is_read: bool
    part: str = ""
    call: str = ""


_LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"})
_STORES = frozenset({"STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL"})
_NAMES = {dis.opmap[name]: name for name in _LOADS | _STORES if name in dis.opmap}
_SHIFTED = frozenset({"LOAD_GLOBAL"})
"""Instructions whose argument has a flag in its lowest bit, before the number of the name."""

_CACHE, _EXTENDED = dis.opmap.get("CACHE", 0), dis.EXTENDED_ARG
_ATTRIBUTE, _CONSTANT = dis.opmap["LOAD_ATTR"], dis.opmap["LOAD_CONST"]
_ITEM = dis.opmap.get("BINARY_SUBSCR", -1)
_CALLED = frozenset({dis.opmap.get("PUSH_NULL", -1), dis.opmap.get("CALL", -1)})

SHELL = "get_ipython"
"""The function by which what is written with ``%`` and ``!`` calls the shell."""


def find_uses(code: CodeType, *, sets: bool) -> dict[int, Use]:
    """Return the places where code reads or sets a variable of its module.

    Args:
        code: Of a cell, or a function of the user's; not what is nested in it.
        sets: Whether names that it sets are the module's: those of a class body are not.

    Returns:
        Each by the offset of its instruction, as ``sys.monitoring`` tells it.
    """
    found: dict[int, Use] = {}
    steps = [*_steps(code)]
    for place, (begin, offset, op, arg) in enumerate(steps):
        kind = _NAMES.get(op)
        if kind is None or not (sets or kind not in ("STORE_NAME", "DELETE_NAME")):
            continue
        name = code.co_names[arg >> 1 if kind in _SHIFTED else arg]
        if kind in _LOADS:
            after = place + 1
            while name == SHELL and after < len(steps) and steps[after][2] in _CALLED:
                after += 1
            use = Use(name, True, *_follow(code, steps, after))  # noqa: FBT003 -- its field
        else:
            use = Use(name, False)  # noqa: FBT003 -- as above
        found[begin] = found[offset] = use
    return found


def _steps(code: CodeType) -> Iterator[tuple[int, int, int, int]]:
    """Yield each instruction: the offsets where it and its operation begin, operation, argument."""
    text = code.co_code
    begin, extended = 0, 0
    for offset in range(0, len(text), 2):
        op = text[offset]
        if op == _CACHE:
            begin = offset + 2
            continue
        arg = extended | text[offset + 1]
        if op == _EXTENDED:
            extended = arg << 8
            continue
        yield begin, offset, op, arg
        begin, extended = offset + 2, 0


def _follow(code: CodeType, steps: list[tuple[int, int, int, int]], place: int) -> tuple[str, str]:
    """Return which part of a value is read by what follows its load, and what is called on it."""
    if place >= len(steps):
        return "", ""
    _, _, op, arg = steps[place]
    if op == _ATTRIBUTE:
        name = code.co_names[arg >> 1]
        if not arg & 1:
            return f".{name}", ""
        constants = []
        for _, _, after, number in steps[place + 1 : place + 4]:
            if after != _CONSTANT or not isinstance(code.co_consts[number], str):
                break
            constants.append(code.co_consts[number])
        return "", "\n".join([name, *constants])
    if op == _CONSTANT and place + 1 < len(steps) and steps[place + 1][2] == _ITEM:
        key = code.co_consts[arg]
        return (f"[{key!r}]" if type(key) in (str, int) else ""), ""
    return "", ""


def words_in(code: CodeType) -> set[str]:
    """Return the words in code's texts: a library may take them for names, as a query does."""
    texts = (const for const in code.co_consts if isinstance(const, str))
    return {word for text in texts for word in _WORD.findall(text)}


def names_in(code: CodeType) -> set[str]:
    """Return the names that code, and what is nested in it, may look up."""
    nested = (const for const in code.co_consts if isinstance(const, CodeType))
    return {*code.co_names}.union(*map(names_in, nested))
