"""Describes in a few words how one value changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ipytorchseed.fingerprint.scalars import read_back
from ipytorchseed.fingerprint.value import BELONGS, DERIVED, Fingerprint
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.words import first_of, many


def how_far(before: Fingerprint | None, after: Fingerprint | None) -> str:
    """Describe the change of a value in a few words."""
    if before is None or after is None:
        sides = ["nothing" if each is None else each.summary for each in (before, after)]
        return " → ".join(sides) if before is not after else ""
    if before.series is not None and after.series is not None:
        said = _series(before.series, after.series)
        several = len(before.series) > 1 or len(after.series) > 1
        if said and several and before.kind != after.kind:
            said = f"{before.kind} → {after.kind}, {said}"
        return said or _other_changes(before, after)
    if _without_count(before.summary) != _without_count(after.summary):
        steps = _step_parts(changed_parts(before, after))
        told = steps and after.kind in ("frame", "optimizer")
        steps = [say_parts(before, after)] if told else steps
        return ", ".join(steps) if steps else f"{before.summary} → {after.summary}"
    if _are_reordered(before, after):
        return "the same items in another order"
    said = say_parts(before, after)
    if not said and changed_parts(before, after).keys() == {"grad"}:
        return _other_changes(before, after)
    return (
        said
        or _sequence_changes(before, after)
        or ("in another state" if after.kind == "rng" else f"{after.kind} with other content")
    )


def _sequence_changes(before: Fingerprint, after: Fingerprint) -> str:
    """Return how many items of a short sequence differ, or "" if that is unknown."""
    was, now = before.parts, after.parts
    if before.kind != after.kind or after.kind not in _SEQUENCES:
        return ""
    if was.get("length") != now.get("length") or now.get("length") not in _SHORT_LENGTHS:
        return ""
    places = [f"k:[{place}]" for place in range(int(now["length"]))]
    if not now.keys() >= {*places} <= was.keys():
        return ""
    apart = [index for index, place in enumerate(places) if was[place] != now[place]]
    said = f"{len(apart)} of {len(places)} items differ, the first at index "
    return f"{said}{apart[0]}" if apart else ""


_SEQUENCES = frozenset({"deque", "list", "tuple"})

# Lengths of sequences whose parts list the items.
_SHORT_LENGTHS = frozenset(map(str, range(2, 9)))


def _are_reordered(before: Fingerprint, after: Fingerprint) -> bool:
    """Return whether a list or dictionary holds the same items in another order."""
    was, now = before.parts, after.parts
    if before.kind != after.kind or was.get("length") != now.get("length"):
        return False
    if after.kind == "dict":
        sides = [{part: it[part] for part in it if part[:2] == "k:"} for it in (was, now)]
        every = sum("." not in part for part in sides[0]) == int(now.get("length", "0"))
        return sides[0] == sides[1] and every and was.get("keys") != now.get("keys")
    return "items" in now and was.get("items") == now["items"] and before.digest != after.digest


_COUNT = lazy_pattern(r", (?:[\d,]+|thousands of) attributes?$")


def _without_count(summary: str) -> str:
    """Return a summary without the count of attributes, a detail of the class."""
    return _COUNT.sub("", summary)


def _defaults(parts: Iterable[str], before: Fingerprint, after: Fingerprint) -> Iterator[str]:
    """Yield which default arguments of a function or of a class's constructor changed."""
    owner = "the class's" if after.kind == "class" else "the function's"
    for part in parts:
        if part[:2] != "d:":
            continue
        name = part[2:]
        sizes = [value.parts.get(f"n:{name}", "") for value in (before, after)]
        how = "changed"
        if "" not in sizes and sizes[0] != sizes[1]:
            grew = "grew" if int(sizes[0]) < int(sizes[1]) else "shrank"
            how = f"{grew} from {int(sizes[0]):,} to {many(int(sizes[1]), 'element')}"
        yield f"{owner} default argument `{name}` {how}"


def _series(before: tuple[float, ...], after: tuple[float, ...]) -> str:
    """Return how far two series are apart, or "" if they hold the same numbers."""
    if len(before) != len(after):
        return f"{len(before):,} → {len(after):,} numbers"
    if len(before) == 1:  # distinguishes 0 and -0
        return write_step(before[0], after[0]) if str(before) != str(after) else ""
    apart = [
        (index, abs(x - y))
        for index, (x, y) in enumerate(zip(before, after, strict=True))
        if x != y and not (x != x and y != y)  # noqa: PLR0124 -- NaN differs from itself
    ]
    if not apart:
        return ""
    first, largest = apart[0][0], max(distance for _, distance in apart)
    return (
        f"{len(apart):,} of {len(before):,} numbers differ, the first at index {first}:"
        f" {write_step(before[first], after[first])},"
        f" largest difference {write_number(largest)}"
    )


def _other_changes(before: Fingerprint, after: Fingerprint) -> str:
    """Return how two values with the same numbers differ."""
    if "grad" in changed_parts(before, after):
        return "the same numbers, another gradient"
    said = say_parts(before, after)
    if not said and before.kind != after.kind:
        said = f"{before.kind} → {after.kind}"
    return f"the same numbers, {said}" if said else "other content, the same numbers"


def write_step(before: float, after: float) -> str:
    """Return the change of a number, with as many digits as are needed to see it."""
    pairs = [(f"{before:.{digits}g}", f"{after:.{digits}g}") for digits in (7, 9, 12, 17)]
    return " → ".join(next((pair for pair in pairs if pair[0] != pair[1]), pairs[0]))


def write_number(number: float) -> str:
    """Return a number for people, with at most seven digits."""
    return f"{number:.7g}"


def changed_parts(
    before: Fingerprint, after: Fingerprint
) -> dict[str, tuple[str | None, str | None]]:
    """Return the parts of a value that differ, with their old and new values."""
    told = (name for name in [*before.parts, *after.parts] if name != DERIVED)
    names = dict.fromkeys(told)
    if before.kind == after.kind and _are_too_many(before) != _are_too_many(after):
        # One side lists no attributes, so those of the other may be the same.
        names = {name: None for name in names if name[:2] != "a:"}
    pairs = {name: (before.parts.get(name), after.parts.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _are_too_many(value: Fingerprint) -> bool:
    """Return whether an object's attributes are only counted, not listed."""
    return "length" in value.parts and not any(name[:2] == "a:" for name in value.parts)


# Parts of a model or optimizer that are only reported if no other differs.
_MINOR_PARTS = {
    "grad": "gradients",
    "hooks": "hooks",
    "state": "its state",
    "unsaved": "buffers that no state_dict holds",
}

# Parts that are reported as a whole.
_WHOLE_PARTS = {
    "parameters": "parameters",
    "inside": "its layers",
    "rates": "rates of its layers",
    "a:__len__": "its length",
    "beside": "what it keeps beside its items",
}

_HOOKED = frozenset({"module", "optimizer"})

# How many differing attributes or items are named.
_MAX_NAMED = 3

# The prefix of numbered items, which are not reported.
_NUMBERED = "k:["


def say_parts(before: Fingerprint, after: Fingerprint) -> str:
    """Return which parts of a value differ: ``changed 4 of 4 parameters``."""
    rows = _rows(before, after)
    if rows:
        return rows
    parts = changed_parts(before, after)
    said = _belonging(*parts.pop(BELONGS, (None, None)))
    said += _model_changes(before, after, parts)
    if not (lists_items(before) and lists_items(after)):
        parts = {name: pair for name, pair in parts.items() if name[:2] != "k:"}
    said += _content_changes(after.kind, parts)
    said += _step_parts(parts)
    said = said or [*_defaults(parts, before, after)]
    if not said and "index" in parts:
        said.append("changed the index")
    if not said and after.kind in _HOOKED:
        said += [f"changed {noun}" for part, noun in _MINOR_PARTS.items() if part in parts]
    return ", ".join(said)


# The parts in which a value differs, with their old and new values.
_Parts = dict[str, tuple[str | None, str | None]]


def _model_changes(before: Fingerprint, after: Fingerprint, parts: _Parts) -> list[str]:
    """Return the changes of a model or optimizer, and remove them from ``parts``."""
    said, groups = [], _group_changes(before, after, parts)
    mode = parts.pop("mode", None)
    if mode is not None:
        said.append(f"switched to {mode[1]} mode")
    frozen = parts.pop("frozen", None)
    if frozen is not None:
        said.append(_freezing(*frozen))
    for prefix, noun in (("p:", "parameter"), ("b:", "buffer")):
        moved = [name for name in parts if name.startswith(prefix)]
        every = sum(name.startswith(prefix) for name in after.parts)
        if moved:
            which = f" ({moved[0][2:]})" if len(moved) == 1 < every else ""
            said.append(f"changed {len(moved)} of {many(every, noun)}{which}")
    whole = [f"changed {noun}" for part, noun in _WHOLE_PARTS.items() if parts.pop(part, None)]
    return said + (groups or whole)


def _content_changes(kind: str, parts: _Parts) -> list[str]:
    """Return the changes of a container's items or an object's attributes.

    Args:
        kind: The value's kind.
        parts: The parts that differ. What other parts imply is removed.
    """
    named = {part: pair for part, pair in parts.items() if part[:3] != _NUMBERED}
    said = [*_item_changes(named, kind)]
    told = any(each.startswith(("added ", "removed ")) for each in said)
    if told and kind == "frame":
        parts.pop("shape", None)
    length = parts.get("length", (None, None))
    if None not in length and kind != "object" and not told:
        said.insert(0, _length(*length, kind))
    attributes = {part[2:]: pair for part, pair in parts.items() if part[:2] == "a:"}
    public = {name: pair for name, pair in attributes.items() if name[:1] != "_"}
    counts = [name for name, pair in attributes.items() if _step(pair)]
    names = _innermost(public) or counts
    names.sort(key=lambda name: name not in counts)
    if names:
        shown = [f"{_attribute(name)}{_step(attributes[name])}" for name in names]
        said.append(f"changed {first_of(shown, _MAX_NAMED)}")
    return said


def _step(pair: tuple[str | None, str | None]) -> str:
    """Return the old and new value of a count in parentheses, or ""."""
    was, now = (read_back(digest or "") for digest in pair)
    return f" ({was} → {now})" if was and now else ""


def has_other_name(before: Fingerprint, after: Fingerprint) -> bool:
    """Return whether a name now holds a function or class with another name."""
    kinds = before.kind == after.kind and after.kind in ("class", "function")
    was, now = (each.summary.partition(",")[0] for each in (before, after))
    return kinds and was != now


def _rows(before: Fingerprint, after: Fingerprint) -> str:
    """Return how many rows were added to or removed from a table, or ""."""
    was, now = (it.parts.get("shape", "") if it.kind == "frame" else "" for it in (before, after))
    return _more(was.partition(" ")[0], now.partition(" ")[0], "row")


def _more(was: str, now: str, noun: str) -> str:
    """Return by how much a count grew or shrank, or ""."""
    if not (was.isdecimal() and now.isdecimal()) or was == now:
        return ""
    more = int(now) - int(was)
    return f"{'added' if more > 0 else 'removed'} {many(abs(more), noun)}"


def _group_changes(before: Fingerprint, after: Fingerprint, parts: _Parts) -> list[str]:
    """Return the changes of an optimizer's groups, and remove them from ``parts``."""
    was, now = (each.parts.get("groups", "") for each in (before, after))
    more = _more(was, now, "parameter group")
    if more:
        parts.pop("lr", None)
        return [more]
    told = [
        f"{name[2:]} {was} → {now}"
        for name, (was, now) in parts.items()
        if name[:2] == _SETTING_PREFIX and was is not None and now is not None
    ]
    if told:  # the defaults hold the first values of the same settings
        parts.pop("a:defaults", None)
    return told


# The prefix of parts for an optimizer's settings: ``s:weight_decay``.
_SETTING_PREFIX = "s:"


def lists_items(value: Fingerprint) -> bool:
    """Return whether parts of a dictionary or table name its items, unless too many."""
    empty = value.parts.get("length") == "0" or value.parts.get("shape", "").endswith(" x 0")
    several = value.kind in ("dict", "frame") and not empty
    return not several or any(part[:2] == "k:" for part in value.parts)


def _item_changes(parts: Mapping[str, tuple[str | None, str | None]], kind: str) -> Iterator[str]:
    """Yield the changed items of a dictionary, columns of a table or places of a list."""
    pairs = {part[2:]: pair for part, pair in parts.items() if part[:2] == "k:"}
    came = [name for name, (was, _) in pairs.items() if was is None]
    gone = [name for name, (_, now) in pairs.items() if now is None]
    other = [name for name in pairs if name not in {*came, *gone}]
    if kind not in ("dict", "frame"):  # a place in a list is no identity
        came, gone, other = [], [], [*pairs]
    for verb, names in (("added", came), ("removed", gone), ("changed", other)):
        found = [f"`{name}`{_step(pairs[name])}" for name in _innermost(names)]
        if found:
            noun = f"column{'s' * (len(found) > 1)} " if kind == "frame" else ""
            yield f"{verb} {noun}{first_of(found, _MAX_NAMED)}"


def _innermost(names: Collection[str]) -> list[str]:
    """Return names without those whose parts are also listed."""
    return [name for name in names if not any(each.startswith(f"{name}.") for each in names)]


def _attribute(name: str) -> str:
    """Return an attribute's name for people: ``__len__`` is the length."""
    owner = name.removesuffix(".__len__")
    return f".{name}" if owner == name else f"the length of .{owner}"


def owners_lost(before: str | None, after: str | None) -> list[str]:
    """Return what a value no longer belongs to, such as an optimizer's model."""
    if before is None or after is None:
        return []
    return [each for each in before.split() if each not in after.split()]


def _belonging(before: str | None, after: str | None) -> list[str]:
    lost = [f"no longer belongs to {each}" for each in owners_lost(before, after)]
    return lost or [f"now belongs to {each}" for each in owners_lost(after, before)]


def _step_parts(parts: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Return the old and new values of parts that can be written so."""
    return [
        f"{name} {parts[name][0]} → {parts[name][1]}"
        for name in ("shape", "dtype", "lr", "maxlen", "rows written")
        if None not in parts.get(name, (None,))
    ]


def _freezing(before: str | None, after: str | None) -> str:
    """Return how many parameters were frozen or unfrozen; the parts begin with counts."""
    more = int((after or "0").partition(" ")[0]) - int((before or "0").partition(" ")[0])
    if not more:
        return "froze other parameters"
    return f"{'froze' if more > 0 else 'unfroze'} {many(abs(more), 'parameter')}"


def _length(before: str | None, after: str | None, kind: str) -> str:
    try:
        more = int(str(after)) - int(str(before))
    except ValueError:
        return f"length {before} → {after}"
    verb = "appended" if kind in ("deque", "list") else "added"
    return f"{verb} {many(more, 'item')}" if more > 0 else f"removed {many(-more, 'item')}"
