"""Edits a notebook's file in place, as text.

Every byte outside the edits stays as it is.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ipytorchseed.checking.notebook import MARK, VARIES, Cell
from ipytorchseed.patterns import lazy_pattern

# The kind of an edit that adds ``VARIES`` to the tags of its cell.
TAG = "tag"

# Lines of a cell that a diff shows around each edit.
_CONTEXT = 2

_SPACE = lazy_pattern(r"[ \t\r\n]*")
# A character as written in a JSON string.
_UNIT = lazy_pattern(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


class Splice(NamedTuple):
    """A replacement in a text.

    Attributes:
        start: Where the replaced text begins, in characters.
        end: Where the replaced text ends; equal to ``start`` for an insertion.
        text: The new text.
    """

    start: int
    end: int
    text: str


class Edit(Struct, frozen=True):
    """An edit of one cell.

    Attributes:
        cell: The cell, without edits.
        kind: ``seed``, ``generator``, ``order``, ``operation``, ``threads``, ``file`` or ``tag``.
        why: What the edit does, in a clause.
        splices: Where the cell's text changes; none for a tag.
    """

    cell: Cell
    kind: str
    why: str
    splices: tuple[Splice, ...] = ()


# Edits that belong together.
Edits = tuple[Edit, ...]


def edit_text(source: str, edits: Iterable[Edit]) -> str:
    """Return the text of a cell after its edits."""
    return _splice(source, [each for edit in edits for each in edit.splices])


def edit_file(text: str, edits: Sequence[Edit]) -> str:
    """Return the text of a notebook's file after edits.

    Args:
        text: The file's text, of format 4.
        edits: The edits. Insertions at one place keep their order.
    """
    whole = _members(text, _skip(text, text.startswith(MARK)))
    cells = _members(text, whole["cells"][0])
    splices: list[Splice] = []
    by_place = sorted(edits, key=lambda each: each.cell.index)
    for index, group in groupby(by_place, lambda each: each.cell.index):
        of_cell, parts = [*group], _members(text, cells[index][0])
        splices += _in_source(text, *parts["source"], of_cell)
        if any(each.kind == TAG for each in of_cell):
            splices.append(_tagged(text, parts["metadata"][0]))
    return _splice(text, splices)


def diff(name: str, source: str, edits: Sequence[Edit]) -> str:
    """Return the edits of one cell as a unified diff.

    Args:
        name: The cell's name.
        source: The cell's text.
        edits: The cell's edits.
    """
    tags = [f"tag {VARIES}"] if any(each.kind == TAG for each in edits) else []
    before, after = source.split("\n"), edit_text(source, edits).split("\n")
    made = [*difflib.unified_diff(before, after, name, name, lineterm="", n=_CONTEXT)]
    head = made or [f"--- {name}", f"+++ {name}"]
    return "\n".join([*head[:2], *(f"+{tag}" for tag in tags), *head[2:]])


def write(path: Path, before: str, after: str) -> None:
    """Replace a file's content atomically; keep its mode.

    Args:
        path: The file; a link is followed.
        before: The text that it must still have.
        after: The new text.

    Raises:
        OSError: The file cannot be written, or has changed meanwhile.
    """
    target = Path(os.path.realpath(path))
    if target.read_bytes() != before.encode():
        raise OSError(0, "another program has changed it in the meantime")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after.encode())
            file.flush()
            os.fsync(handle)
        shutil.copymode(target, fresh)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _splice(text: str, splices: Iterable[Splice]) -> str:
    """Replace pieces of a text.

    Insertions at one place keep their order.
    """
    parts, done = [], 0
    for start, end, new in sorted(splices, key=lambda each: each[:2]):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _members(text: str, at: int) -> dict[str | int, tuple[int, int]]:
    """Return where each value in a JSON object or array begins and ends.

    Args:
        text: The file's text.
        at: Where the object or array begins.

    Returns:
        The places by key or index.
    """
    decode: Callable[[str, int], tuple[object, int]] = json.JSONDecoder().raw_decode
    found: dict[str | int, tuple[int, int]] = {}
    keyed, at = text[at] == "{", _skip(text, at + 1)
    while text[at] not in "]}":
        key: str | int = len(found)
        if keyed:
            named, at = decode(text, at)
            key, at = str(named), _skip(text, _skip(text, at) + 1)  # a colon
        _, end = decode(text, at)
        found[key] = at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _in_source(text: str, at: int, end: int, edits: Sequence[Edit]) -> Iterator[Splice]:
    """Yield the splices of a cell's ``source``: one string, or a list of its lines."""
    newline, strings = r"\n", [(at, end)]
    if text[at] == "[":
        strings = [*_members(text, at).values()]
        newline = rf'\n",{text[at + 1 : strings[0][0]] if strings else ""}"'
    places = [
        unit.start()
        for begin, stop in strings
        for unit in _UNIT.finditer(text, begin + 1, stop - 1)
    ]
    places += [strings[-1][1] - 1] if strings else []
    for start, stop, new in (each for edit in edits for each in edit.splices):
        lines = (json.dumps(line, ensure_ascii=text.isascii())[1:-1] for line in new.split("\n"))
        yield Splice(places[start], places[stop], newline.join(lines))


def _tagged(text: str, at: int) -> Splice:
    """Return the splice of a cell's ``metadata`` that adds the tag."""
    members, word = _members(text, at), json.dumps(VARIES)
    if "tags" in members:
        begin, end = members["tags"]
        inside = [*_members(text, begin).values()]
        if not inside:
            return Splice(begin, end, f"[{word}]")
        gap = text[begin + 1 : inside[0][0]] or " "
        return Splice(inside[-1][1], inside[-1][1], f",{gap}{word}")
    unit = re.search(r"\{\n([ \t]*)", text)
    line = text[text.rfind("\n", 0, at) + 1 : at]
    outer = line[: len(line) - len(line.lstrip())]
    made = json.dumps({"tags": [VARIES]}, indent=unit and unit[1]).replace("\n", f"\n{outer}")
    if not members:
        return Splice(at, text.index("}", at) + 1, made)
    last = max(members.values())[1]
    return Splice(last, last, f"{',' if unit else ', '}{made[1:-1].rstrip()}")
