"""Describes in a few words how one value changed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping

from ipytorchseed.fingerprint.scalars import read_back
from ipytorchseed.fingerprint.value import BELONGS, DERIVED, Fingerprint
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.words import first_of, many


def how_far(before: Fingerprint | None, after: Fingerprint | None) -> str:
    """Describe the change of a value in a few words."""
    if before is None or after is None:
        sides = ["nothing" if each is None else each.summary for each in (before, after)]
        return " → ".join(sides) if before is not after else ""
    said, parts = say_parts(before, after), changed_parts(before, after)
    if not said and parts.keys() == {"grad"}:
        return "the same numbers, another gradient"
    if before.series is not None and after.series is not None:
        apart = _series(before.series, after.series, at=_PLACES.get(after.kind, "index"))
        kinds = f"{before.kind} → {after.kind}" if before.kind != after.kind else ""
        same = f"the same numbers, {said or kinds}" if said or kinds else _SAME_NUMBERS
        return apart or same
    if _without_count(before.summary) != _without_count(after.summary):
        return said if _step_parts(parts) else f"{before.summary} → {after.summary}"
    if are_reordered(before, after):
        return "the same items in another order"
    said = said or ", ".join(_item_changes(parts, after.kind))
    return said or (
        "in a different state" if after.kind == "rng" else f"{after.kind} with different content"
    )


# The word for the position of a number in each kind of value; "index" for other kinds.
_PLACES = {"series": "row"}

# Series with at most this many numbers are written in full.
_MOST_NUMBERS = 4

# Significant digits: as many as are usually written, and enough to distinguish any two numbers.
_DIGITS, _EXACT = 7, 17

_SAME_NUMBERS = "other content, the same numbers"


def are_reordered(before: Fingerprint | None, after: Fingerprint | None) -> bool:
    """Return whether a list or dictionary holds the same items in another order."""
    if before is None or after is None:
        return False
    was, now = before.parts, after.parts
    if before.kind != after.kind or was.get("length") != now.get("length"):
        return False
    if after.kind == "dict":
        sides = [{part: it[part] for part in it if part[:2] == "k:"} for it in (was, now)]
        every = sum("." not in part for part in sides[0]) == int(now.get("length", "0"))
        return sides[0] == sides[1] and every and was.get("keys") != now.get("keys")
    return "items" in now and was.get("items") == now["items"] and before.digest != after.digest


_COUNT = lazy_pattern(r", [\d,]+ attributes?$")


def _without_count(summary: str) -> str:
    """Return a summary without the count of attributes."""
    return _COUNT.sub("", summary)


def _defaults(kind: str, parts: _Parts) -> Iterator[str]:
    """Yield phrases about the changed default arguments of a function or constructor."""
    for name in (part[2:] for part in parts if part[:2] == "d:"):
        was, now = parts.get(f"n:{name}", (None, None))  # its length
        how = f"changed its length {was} → {now}" if was and now else "changed"
        yield f"the {kind}'s default argument `{name}` {how}"


def _series(before: tuple[float, ...], after: tuple[float, ...], at: str) -> str:
    """Describe how two series of numbers differ; "" if they are equal."""
    if len(before) != len(after):
        return f"{len(before):,} → {len(after):,} numbers"
    if len(before) == 1:  # compared as text, to distinguish 0 and -0
        return write_step(before[0], after[0]) if str(before) != str(after) else ""
    apart = [
        (index, abs(x - y))
        for index, (x, y) in enumerate(zip(before, after, strict=True))
        if x != y and not (x != x and y != y)  # noqa: PLR0124 -- NaN differs from itself
    ]
    if not apart:
        return ""
    if len(before) <= _MOST_NUMBERS:
        sides = zip(*itertools.starmap(_write_both, zip(before, after, strict=True)), strict=True)
        return " → ".join(f"[{', '.join(side)}]" for side in sides)
    if sorted(before) == sorted(after):
        return "the same numbers in another order"
    first, largest = apart[0][0], max(distance for _, distance in apart)
    said = (
        f"{len(apart):,} of {len(before):,} numbers differ, the first at {at} {first}:"
        f" {write_step(before[first], after[first])}"
    )
    may_be_labels = all(map(float.is_integer, map(float, (*before, *after))))
    return said if may_be_labels else f"{said}, largest difference {write_digits(largest)}"


def write_step(before: float, after: float, digits: int = _DIGITS) -> str:
    """Return the old and new number, with as many more digits as show the difference."""
    return " → ".join(_write_both(before, after, digits))


def _write_both(before: float, after: float, digits: int = _DIGITS) -> tuple[str, str]:
    every = range(digits, _EXACT + 1)
    pairs = [(write_digits(before, count), write_digits(after, count)) for count in every]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def write_digits(number: float, digits: int = _DIGITS) -> str:
    """Write a number with ``digits`` significant digits; a whole number in full."""
    number = float(number)
    whole = math.isfinite(number) and number.is_integer() and abs(number) < 10**_EXACT
    return f"{number:.{_EXACT if whole else digits}g}"


def changed_parts(
    before: Fingerprint, after: Fingerprint
) -> dict[str, tuple[str | None, str | None]]:
    """Return the parts of a value that differ, with their old and new values."""
    names = dict.fromkeys([*before.parts, *after.parts])
    pairs = {name: (before.parts.get(name), after.parts.get(name)) for name in names}
    return {n: pair for n, pair in pairs.items() if pair[0] != pair[1] and n != DERIVED}


# Parts of a model, optimizer or table that are only reported if no other part differs.
_MINOR_PARTS = {
    "index": "the index",
    "grad": "gradients",
    "hooks": "hooks",
    "state": "its state",
    "unsaved": "buffers that are not in its state_dict",
}

# Parts that are reported as a whole.
_WHOLE_PARTS = {
    "parameters": "parameters",
    "inside": "its layers",
    "rates": "rates of its layers",
    "a:__len__": "its length",
    "more": "data other than its items",
}

_HAS_MINOR_PARTS = frozenset({"frame", "module", "optimizer", "series"})

# How many differing attributes or items are named.
_MAX_NAMED = 3


def say_parts(before: Fingerprint, after: Fingerprint) -> str:
    """Describe which parts of a value differ: ``changed 4 of 4 parameters``."""
    parts = changed_parts(before, after)
    if after.kind == before.kind == "frame" and (rows := _count(parts, "shape", "row")):
        return rows
    said = _belonging(*parts.pop(BELONGS, (None, None)))
    said += _model_changes(after, parts)
    if _lists_items(before) != _lists_items(after):
        parts = {name: pair for name, pair in parts.items() if name[:2] != "k:"}
    said += _content_changes(after.kind, parts)
    said += _step_parts(parts)
    said = said or [*_defaults(after.kind, parts)]
    if not said and after.kind in _HAS_MINOR_PARTS:
        said += [f"changed {noun}" for part, noun in _MINOR_PARTS.items() if part in parts]
    return ", ".join(said)


# The parts in which a value differs, with their old and new values.
_Parts = dict[str, tuple[str | None, str | None]]


def _model_changes(after: Fingerprint, parts: _Parts) -> list[str]:
    """Return the changes of a model or optimizer, and remove them from ``parts``."""
    said, groups = [], _group_changes(parts)
    mode = parts.pop("mode", None)
    if mode is not None:
        said.append(f"switched to {mode[1]} mode")
    if "frozen" in parts:  # the part begins with the count of frozen parameters
        more = _count(parts, "frozen", "parameter", ("froze", "unfroze"))
        said.append(more or "froze other parameters")
        del parts["frozen"]
    for prefix, noun in (("p:", "parameter"), ("b:", "buffer")):
        moved = [name for name in parts if name.startswith(prefix)]
        every = sum(name.startswith(prefix) for name in after.parts)
        if moved:
            which = f" ({moved[0][2:]})" if len(moved) == 1 < every else ""
            count = min(len(moved), every)  # renamed parameters are in ``moved`` twice
            said.append(f"changed {count} of {many(every, noun)}{which}")
    whole = [f"changed {noun}" for part, noun in _WHOLE_PARTS.items() if parts.pop(part, None)]
    return said + (groups or whole)


def _content_changes(kind: str, parts: _Parts) -> list[str]:
    """Return the changes of a container's items or an object's attributes.

    Args:
        kind: The value's kind.
        parts: The parts that differ. A table's ``shape`` is removed if its columns imply it.
    """
    said = [] if kind in _SEQUENCES else [*_item_changes(parts, kind)]
    was, now = parts.get("length", (None, None))
    told = any(each.startswith(("added ", "removed ")) for each in said)
    if told and kind == "frame":
        parts.pop("shape", None)
    if was and now and kind != "object" and not told:
        verbs = ("appended" if kind in _SEQUENCES else "added", "removed")
        said.insert(0, _count(parts, "length", "item", verbs) or f"length {was} → {now}")
    attributes = {part[2:]: _step(pair) for part, pair in parts.items() if part[:2] == "a:"}
    public = [name for name in attributes if name[:1] != "_" and "._" not in name]
    names = _innermost(public or [name for name in attributes if attributes[name]])
    names.sort(key=lambda name: not attributes[name])
    if names:
        shown = [f"{_attribute(name)}{attributes[name]}" for name in names]
        said.append(f"changed {first_of(shown, _MAX_NAMED)}")
    return said


def _step(pair: tuple[str | None, str | None]) -> str:
    """Return " (old → new)" if the digests are of known small values, else ""."""
    was, now = (read_back(digest or "") for digest in pair)
    return f" ({was} → {now})" if was and now else ""


# Kinds whose items are identified by position. Only the first and last items are parts.
_SEQUENCES = frozenset({"deque", "list", "tuple"})

# Verbs for a count that grew or shrank.
_ADDED = ("added", "removed")


def has_other_name(before: Fingerprint, after: Fingerprint) -> bool:
    """Return whether a name now holds a function or class with a different name."""
    kinds = before.kind == after.kind and after.kind in ("class", "function")
    was, now = (each.summary.partition(",")[0] for each in (before, after))
    return kinds and was != now


def _count(parts: _Parts, name: str, noun: str, verbs: tuple[str, str] = _ADDED) -> str:
    """Return by how much a part's leading count changed: ``added 3 items``; or ""."""
    was, now = ((each or "0").partition(" ")[0] for each in parts.get(name, ("0", "0")))
    if not (was.isdecimal() and now.isdecimal()) or was == now:
        return ""
    more = int(now) - int(was)
    return f"{verbs[more < 0]} {many(abs(more), noun)}"


def _group_changes(parts: _Parts) -> list[str]:
    """Return the changes of an optimizer's groups, and remove them from ``parts``."""
    if more := _count(parts, "groups", "parameter group"):
        parts.pop("lr", None)
        return [more]
    told = [
        f"{name[2:]} {was} → {now}"
        for name, (was, now) in parts.items()
        if name[:2] == "s:" and was is not None and now is not None  # a setting: ``s:momentum``
    ]
    if told:  # ``defaults`` contains the initial values of the same settings
        parts.pop("a:defaults", None)
    return told


def _lists_items(value: Fingerprint) -> bool:
    """Return whether a container lists its items: it is empty or not too large."""
    return value.parts.get("length") == "0" or any(part[:2] == "k:" for part in value.parts)


def _item_changes(parts: _Parts, kind: str) -> Iterator[str]:
    """Yield phrases about added, removed and changed items, columns or positions."""
    named: dict[str, list[str]] = {"added": [], "removed": [], "changed": []}
    for part, (was, now) in parts.items():
        is_end = kind in _SEQUENCES and (part[:4] == "k:[-" or None in (was, now))
        if part[:2] == "k:" and not is_end:
            verb = "added" if was is None else "removed" if now is None else "changed"
            named[verb].append(part[2:])
    for verb, names in named.items():
        inner = _innermost(names)
        found = [f"`{_quoted(name, kind)}`{_step(parts[f'k:{name}'])}" for name in inner]
        if found:
            noun = f"column{'s' * (len(found) > 1)} " if kind == "frame" else ""
            yield f"{verb} {noun}{first_of(found, _MAX_NAMED)}"


def _quoted(name: str, kind: str) -> str:
    """Return a key as written in code, quoted if it is a dictionary's own string key."""
    return f"'{name}'" if kind == "dict" and name[:1] != "[" and "." not in name else name


def _innermost(names: Collection[str]) -> list[str]:
    """Return names without those that contain another listed name."""
    return [name for name in names if not any(each.startswith(f"{name}.") for each in names)]


def _attribute(name: str) -> str:
    """Return an attribute for messages: ``.lr``, ``the length of .items``."""
    owner = name.removesuffix(".__len__")
    return f".{name}" if owner == name else f"the length of .{owner}"


def owners_lost(before: str | None, after: str | None) -> list[str]:
    """Return the owners that a value has lost, such as an optimizer's model."""
    if before is None or after is None:
        return []
    return [each for each in before.split() if each not in after.split()]


def _belonging(before: str | None, after: str | None) -> list[str]:
    lost = [f"no longer belongs to {each}" for each in owners_lost(before, after)]
    return lost or [f"now belongs to {each}" for each in owners_lost(after, before)]


def _step_parts(parts: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Return phrases with the old and new values of parts such as the shape."""
    return [
        f"{name} {parts[name][0]} → {parts[name][1]}"
        for name in ("shape", "dtype", "lr", "maxlen", "rows written")
        if None not in parts.get(name, (None,))
    ]
