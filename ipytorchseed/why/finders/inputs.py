"""Finds inputs with other content than before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from math import isnan

from ipytorchseed.fingerprint.value import BELONGS, SHARED, Fingerprint, same
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.reads.methods import INSIDE, LAYER
from ipytorchseed.reads.renewals import EVERY, FITTED
from ipytorchseed.reads.rewrites import only_counts, sets_items_first
from ipytorchseed.reads.unordered import heeds_no_order
from ipytorchseed.why.evidence import Evidence, differ
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.batches import say_batch_size
from ipytorchseed.why.finders.bearing import bears_on_nothing
from ipytorchseed.why.finders.changers import (
    MOST_TOLD,
    REDEFINED,
    find_changers,
    find_left_out,
    find_module_writers,
    find_shower,
    makes_anew,
)
from ipytorchseed.why.finders.remembered import is_remembered
from ipytorchseed.why.value_changes import (
    changed_parts,
    how_far,
    is_another,
    owners_lost,
    say_parts,
    tells_items,
)

READING = "is what a clock said, or an address: another each time"
"""Said of a variable that holds nothing else."""

_OTHER_PARTS = "changed in parts that the cell does not read"

_OWN_MODE = "differs only in the mode, which the cell sets"

_COUNTED = "differs only in what it counts, which the cell does not read"

_BATCHES = "num_batches_tracked"
"""The end of the names of buffers that count, and that layers do not heed as a rule."""

_MIXED = "holds the same items in another order, on which nothing hangs that changed"

_ANY_ORDER = "holds the same items in another order, which the cell does not heed"

_FILLED = "filled in by the cell's own earlier run"

_REMEMBERED = "keeps results of the same code, which the cell would work out again"

_OVERWRITTEN = "set anew by the cell before it reads it"

_EMPTIED = frozenset({"deque", "dict", "list", "optimizer", "scheduler", "set"})
"""Kinds of which nothing is left by ``clear()`` or ``load_state_dict()``, but for ``_KEPT``."""

_KEPT = frozenset({"beside", "hooks", "maxlen"})
"""Parts that stay: a default factory, attributes of a subclass, hooks, the most items."""

_INITIALISED = "initialised anew by the cell before it reads it"

_REFITS = lazy_pattern(r"\.fit(?:_transform|_predict)?\(")
_GOES_ON = lazy_pattern(r"partial_fit|warm_start")
_SETS_INSIDE = lazy_pattern(r"set_params|setattr|\.\w+\s*(?:[-+/]|\*\*?)?=(?!=)")
"""Text of cells that fit anew, that go on from what is there, and that set parts of objects."""

_CLEARS = lazy_pattern(r"(?<![\w.\[\]'\"])([\w.\[\]'\"]{1,80})\.zero_grad\(")
_STEPS = lazy_pattern(r"\b(\w+)\.step\(")
"""Find what a cell clears the gradients of, and what it steps."""

_ASKS = lazy_pattern(
    r"\bexcept\b|\b(?:get|setdefault|pop|defaultdict|suppress)\(|\bin\s+\w+\s*[:)]"
)
"""Text that may ask whether an item is there."""

_MAY_MISS = lazy_pattern(r"\bexcept\b|\bsuppress\(")
"""Text that goes on where an item is not there."""

_HOLD_ESTIMATORS = frozenset({"dict", "list", "tuple"})
"""Kinds of values of which a loop may fit each item."""

_SETS_MODE = lazy_pattern(r"\b(\w+)\.(?:eval|train)\(")
"""Finds the models whose mode a cell sets in so many words."""

_ONLY = "differs only in "
"""How it begins what is said of a value of which no such aspect bears on the cell."""

_ASPECTS = {
    "grad": "gradients, which the cell clears or does not use",
    "mode": "the mode, which no layer of it heeds",
    "frozen": "what is frozen, and the cell uses no gradient",
    "rates": "rates that count in training only, and the cell evaluates",
}
"""Aspects that may be without effect, and what is said of them then."""

_BORROWED = {
    "optimizer": ("parameters", "module", "its parameters are those of {}"),
    "scheduler": ("a:optimizer", "optimizer", "its optimizer is {}"),
}
"""By kind, the part that a value shares with one of another kind, which is the one to name."""


def find_inputs(case: Evidence) -> Iterator[Cause | Cleared]:
    """Find the values that differ between the begins of the two runs."""
    imported = tuple(f"{module}." for module in case.run.loaded.keys() & case.against.loaded.keys())
    replaced = {*case.against.replaced} ^ {*case.run.replaced}
    for name, after in case.run.reads.items():
        before = case.against.reads.get(name)
        if name.startswith(imported):
            continue  # the file that both imported it from is the business of another finder
        if name in replaced:
            continue  # what took the place of a package's own is told with that
        if name in case.run.generators_before or after.kind == "rng":
            continue  # its state is the business of another finder
        if before is None or same(before, after) is not False:
            continue  # where it was not read before, the cell had made it itself
        harmless = _harmless(case, name, before, after)
        if harmless:
            yield Cleared("input", name, harmless)
        else:
            yield _cause(case, name, before, after)


def find_cleared_inputs(case: Evidence) -> Iterator[Cause]:
    """Come back to inputs that were cleared for what the cell reads or sets of them.

    Those of which it reads other parts count where they are its result as well; those of which it
    reads none, as of a list that it only appends to, where nothing else is.
    """
    made = {change.name for change in case.changed if change.what == "variable"}
    filled = {name for name in made if case.run.parts.get(name) == ()}
    if not all(change.what == "variable" and change.name in filled for change in case.changed):
        made -= filled
    same_numbers = all(None is not each.before == each.after for each in case.changed)
    suspects = [
        each.name
        for each in find_inputs(case)
        if each.message in (_OWN_MODE, _FILLED, _REMEMBERED, _MIXED, _COUNTED, _INITIALISED)
        or (
            each.message == _OTHER_PARTS
            and (each.name in made or case.run.reads[each.name].kind == "class")
        )
        or (each.message.startswith(_ONLY) and same_numbers)
    ]
    for name in suspects:
        yield _cause(case, name, case.against.reads[name], case.run.reads[name])


def _harmless(  # noqa: PLR0911 -- one reason each
    case: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> str:
    """Say why a value with another digest cannot account for the change, or return nothing."""
    moved = _parts_read(case, name, before, after)
    if not moved:
        return _OTHER_PARTS
    anew = _parts_set_anew(case, name, moved)
    moved -= anew | _size_without(anew, before, after)
    if not moved:
        return _OVERWRITTEN
    if _is_counted(case, name, after, moved):
        return _COUNTED
    if moved <= _without_effect(case):
        return f"{_ONLY}{' and '.join(_ASPECTS[each] for each in sorted(moved))}"
    mode = {"mode"} if _sets_mode(case, name) else set[str]()
    replaced = _replaced(before) | _replaced(after) | _without_effect(case)
    if moved <= replaced | mode and not moved <= mode and _set_anew(case, name, after):
        return _set_anew(case, name, after)
    if mode <= moved <= mode | _without_effect(case):
        return _OWN_MODE
    if _is_rewritten(case, name, before, after) or _is_made_each_time(case, name, moved):
        return _OVERWRITTEN
    if kept := _kept(case, name, moved):
        return kept
    if _is_mixed(before, after) and (reason := _order_unheeded(case, name, after)):
        return reason
    return _borrowed(case, after) if {_BORROWED.get(after.kind, ("",))[0]} == moved else ""


def _is_counted(case: Evidence, name: str, value: Fingerprint, moved: Collection[str]) -> bool:
    """Tell whether all that differs is what code counts and does not read."""
    counters = {f"a:{each}" for each in {*case.run.counted} & {*case.against.counted}}
    if all(part in counters or part.endswith(_BATCHES) for part in moved):
        return True
    source, *makers = case.texts()
    itself = re.search(rf"\b{re.escape(name)}\b", source)
    return value.kind in ("float", "int") and not itself and only_counts(makers, name)


def _sets_mode(case: Evidence, name: str) -> bool:
    """Tell whether the cell puts a model in a mode itself, for all one knows."""
    modes_set = {*_SETS_MODE.findall(case.run.source)} & case.run.reads.keys() or {name}
    return name in modes_set and case.heeds("own mode")


def _is_mixed(before: Fingerprint, after: Fingerprint) -> bool:
    """Tell whether a list or array holds the same items in another order."""
    items = before.parts.get("items")
    if items is None and before.series and after.series:
        return sorted(before.series) == sorted(after.series)
    return items is not None and items == after.parts.get("items")


def _order_unheeded(case: Evidence, name: str, value: Fingerprint) -> str:
    """Say that nothing hangs on the order of items; nothing where that may be.

    The cell only sorts them, counts them or asks what is among them, and its functions do not know
    the name; or nothing that changed hangs on the order.
    """
    sortable = not any(map(isnan, value.series or ())) and case.run.code == case.against.code
    here_alone = sortable and not case.may_be_named_elsewhere(name)
    if here_alone and heeds_no_order(case.run.source, name):
        return _ANY_ORDER
    return _MIXED if bears_on_nothing(case, [name]) else ""


def _borrowed(case: Evidence, value: Fingerprint) -> str:
    """Say of which variable the part is in which a value differs, if that one changed."""
    _, owner, reason = _BORROWED.get(value.kind, ("", "", ""))
    earlier = case.against.reads
    for name, lender in case.run.reads.items():
        lent = name in value.parts.get(BELONGS, "").split()
        if lent and lender.kind == owner and name in earlier and differ(earlier[name], lender):
            return reason.format(name)
    return ""


def _set_anew(case: Evidence, name: str, value: Fingerprint) -> str:
    """Say that both runs set anew what a name held; nothing where they do not."""
    runs = (case.run, case.against)
    if all(name in run.overwritten for run in runs):
        return _OVERWRITTEN
    anew = all(name in (*run.overwritten, *run.initialised) for run in runs)
    return _INITIALISED if anew and value.kind == "module" else ""


def _parts_set_anew(case: Evidence, name: str, moved: set[str]) -> set[str]:
    """Name the parts of a value that both runs set before they read them."""
    both = {*case.run.overwritten} & {*case.against.overwritten}
    found = set[str]()
    if f"{name}.{EVERY}" in both:
        found |= {part for part in moved if part[:2] == "a:"}
    if f"{name}.{FITTED}" in both:
        found |= {part for part in moved if part.startswith("a:_") or part[:2] + part[-1] == "a:_"}
    for path in (each.removeprefix(f"{name}.") for each in both if each.startswith(f"{name}.")):
        plain = path.replace("[", "").replace("]", "")
        found |= {plain, f"a:{plain}", f"p:{plain}", f"b:{plain}"} - {"", "content"}
        found |= {part for part in moved if plain and part.startswith(f"a:{plain}.")}
        found |= {f"k:{plain}", f"k:[{plain}]"} if path[:1] == "[" else set()
    return found


def _size_without(anew: set[str], before: Fingerprint, after: Fingerprint) -> set[str]:
    """Name what tells the size of a table, where no more columns came or went than are set anew."""
    tables = before.kind == after.kind == "frame"
    columns = [{part for part in it.parts if part[:2] == "k:"} for it in (before, after)]
    rows = [it.parts.get("shape", "").partition(" ")[0] for it in (before, after)]
    alike = tables and all(columns) and rows[0] == rows[1]
    other = columns[0] ^ columns[1]
    return {"shape", "columns"} if alike and other and other <= anew else set()


def _replaced(value: Fingerprint) -> set[str]:
    """Name the aspects of a value of which nothing is left once its content is set anew.

    A class of the user's may have a method of that name which leaves something.
    """
    if value.kind == "module":
        return {part for part in value.parts if part[:2] in ("p:", "b:")} | {
            "parameters",
            "buffers",
        }
    if value.kind in ("tensor", "array"):
        return {"content", *(part for part in value.parts if part[:2] == "k:")}
    return {*value.parts} - _KEPT if value.kind in _EMPTIED else set()


def _is_rewritten(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> bool:
    """Tell whether all items that differ are set by both runs before they look at any.

    What one of them set, the same text sets in the other as well.
    """
    alike = case.run.code == case.against.code and before.kind == after.kind
    if not alike or not (before.exact and after.exact):
        return False
    word = re.compile(rf"\b{re.escape(name)}\b")
    source, *helpers = case.texts()
    if any(map(word.search, helpers)) or not sets_items_first(source, name):
        return False
    left = [run.writes.get(name) for run in (case.against, case.run)]
    keys = {None if value is None else value.parts.get("keys") for value in (*left, after)}
    if len(keys) == 1 and None not in keys and before.parts.get("length") == "0":
        return True  # those that the one set, it had from nowhere else
    begun, ended = (_items(before), _items(after)), map(_items, left)
    sets = {
        key
        for begin, end in zip(begun, ended, strict=True)
        for key in end
        if end[key] != begin.get(key)
    }
    differ_in = {key for begin in begun for key in begin if begun[0].get(key) != begun[1].get(key)}
    return len(differ_in) > 0 and differ_in <= sets


def _is_made_each_time(case: Evidence, name: str, moved: Collection[str]) -> bool:
    """Tell whether both runs set all items that differ, and the earlier one had none to read.

    Functions may set them, as hooks do. What asks for an item that need not be there may go on
    from it.
    """
    before, after = case.against.reads[name], case.run.reads[name]
    read, left = case.run.parts.get(name), case.run.writes.get(name)
    alike = case.run.code == case.against.code and before.kind == after.kind == "dict"
    known = alike and before.exact and after.exact and tells_items(before)
    if not known or read is None or left is None:
        return False
    # What the earlier run reads is not asked: of an item that is not there yet, that is not known.
    return not any(map(_ASKS.search, case.texts())) and all(
        part[:2] == "k:"
        and part not in before.parts
        and left.parts.get(part) not in (None, after.parts.get(part))
        for part in {*moved}.intersection(read)
    )


def _items(value: Fingerprint | None) -> dict[str, object]:
    """Return what is known of each item of a dictionary or a short array; nothing of others."""
    if value is None or value.kind not in ("array", "dict", "tensor"):
        return {}
    if value.kind != "dict":
        return {str(place): each for place, each in enumerate(value.series or ())}
    few = sum(part[:2] == "k:" for part in value.parts) == int(value.parts.get("length", "-1"))
    return {part: each for part, each in value.parts.items() if few and part[:2] == "k:"}


def _kept(case: Evidence, name: str, moved: Collection[str]) -> str:
    """Say that all that differs is what the code itself keeps there; nothing otherwise."""
    before, after = case.against.reads[name], case.run.reads[name]
    if _is_filled_in(case, name, before, after):
        return _FILLED
    return _REMEMBERED if is_remembered(case, name, moved) else ""


def _is_filled_in(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> bool:
    """Tell whether all that differs is what the cell itself keeps there, run for run.

    Attributes that were not there before, and what fitting an estimator sets anew.
    """
    every = changed_parts(before, after)
    moved = {part: pair for part, pair in every.items() if part not in ("random", SHARED, "unseen")}
    source = case.run.source
    refits = _REFITS.search(source) is not None
    inside = _fitted_inside(case, name, every)
    fitted = moved.keys() == {"length"} and after.kind == "object" and refits
    fitted |= after.kind in _HOLD_ESTIMATORS and moved.keys() <= inside | {"items"}
    if (
        not moved
        or _GOES_ON.search(source)
        or not (
            fitted
            or all(
                part[:2] == "a:"
                and (was is None or part in inside or (refits and "_" in (part[-1], part[2:3])))
                for part, (was, _) in moved.items()
            )
        )
    ):
        return False
    blame = find_changers(case, name)
    return bool(blame) and all(each.run and each.run.cell == case.run.cell for each in blame)


def _fitted_inside(case: Evidence, name: str, moved: Collection[str]) -> set[str]:
    """Name the parts in which estimators are that fitting fits: of a pipeline, or in a list.

    Those that the cell does not name itself, which hands them to nobody, but for a loop. What a
    class of the user's keeps when it is fitted, nobody knows.
    """
    source = case.run.source
    fits = f"{name}.{FITTED}" in {*case.run.overwritten} & {*case.against.overwritten}
    handed = re.search(rf"(?<!\bin )\b{re.escape(name)}\b(?!\s*[.\[])", source)
    alters = handed or _SETS_INSIDE.search(source)
    goes_on = any("warm_start" in each.source for each in case.states.latest(case.run))
    users = any(value.kind == "class" for value in case.run.reads.values())
    known = fits and not (alters or goes_on or users or "random" in moved)
    return {part for part in moved if known and part[2:] not in source}


def _without_effect(case: Evidence) -> set[str]:
    """Name the aspects of modules and tensors that do not bear on what the cell does."""
    found = {aspect for aspect in _ASPECTS if not case.heeds(aspect)}
    if "grad" in found and _steps_uncleared(case):
        found -= {"grad"}
    shown = any(
        _is_text(case, each.name)
        if each.what == "variable"
        else each.what != "result" or None in (each.before, each.after)
        for each in case.changed
    )
    return found - ({"rates"} if shown else set())  # which a model that is printed tells


def _steps_uncleared(case: Evidence) -> bool:
    """Tell whether a cell steps an optimizer though it clears gradients of others or a part alone.

    As ``opt_head.zero_grad()`` and ``model[1].zero_grad()`` do. Where other names tell what is
    cleared, as in a function of the user's, that is all.
    """
    text, reads = "\n".join(case.texts()), case.run.reads
    kinds = {name: value.kind for name, value in reads.items()}
    cleared = {*_CLEARS.findall(text)}
    if any(kinds.get(name) == "module" for name in cleared):
        return False
    stepped = {name for name in _STEPS.findall(text) if kinds.get(name) == "optimizer"}
    owners = {owner: re.split(r"\W", owner)[0] for owner in cleared}
    known = all(kinds.get(root) in ("module", "optimizer") for root in owners.values())
    return known and not stepped <= cleared


def _is_text(case: Evidence, name: str) -> bool:
    """Tell whether either run left a text under a name."""
    made = [run.writes.get(name) for run in (case.against, case.run)]
    return any(value is not None and value.kind == "str" for value in made)


_IN_EVERY_PART = frozenset({"bases", "dtype", "index"})
"""Aspects on which each part of a value hangs: the index of a data frame, a class's bases."""


def _parts_read(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> set[str]:
    """Return the parts in which a value differs, without those that neither run reads."""
    moved = {*changed_parts(before, after)}
    wanted = [run.parts.get(name) for run in (case.against, case.run)]
    other_class = after.kind == "class" and not moved  # alike in all but the name
    if None in wanted or other_class or not (before.exact and after.exact):
        return moved or {"content"}
    read = _IN_EVERY_PART.union(*filter(None, wanted)) - _unmet(case, name, before)
    return {part for part in moved if part in read or _is_inside(part, read)}


def _unmet(case: Evidence, name: str, before: Fingerprint) -> set[str]:
    """Name the items that a dictionary got since, of those that the cell finds by varying keys.

    The earlier run found each that it asked for, and the same code asks for others only where
    something else has changed. Unless it asks whether one is there.
    """
    asks = "keys" in case.run.parts[name] or any(map(_MAY_MISS.search, case.texts()))
    if asks or case.run.code != case.against.code:
        return set()
    anew = {*case.run.parts[name]} - {*case.against.parts[name]}
    return {part for part in anew if part[:2] == "k:" and part not in before.parts}


def _is_inside(part: str, read: Collection[str]) -> bool:
    """Tell whether a part of a model is in one of those that stand for several."""
    if part[:2] not in ("p:", "b:"):
        return part[:2] != "a:" and any(each == INSIDE or each[:2] == LAYER for each in read)
    layers = {LAYER + part[2:], f"{LAYER}{part[2:].partition('.')[0]}"}
    return INSIDE in read or not layers.isdisjoint(read)


def _parts_told(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> set[str]:
    """Return the parts in which a value differs and that bear on the cell, if any certainly do."""
    parts = _parts_read(case, name, before, after)
    borrowed = {_BORROWED.get(after.kind, ("",))[0]} if _borrowed(case, after) else set[str]()
    replaced = _replaced(before) | _replaced(after) if _set_anew(case, name, after) else set[str]()
    mode = {"mode"} if _sets_mode(case, name) else set[str]()
    anew = _parts_set_anew(case, name, parts)
    for spared in (anew, _without_effect(case), borrowed, replaced, mode):
        parts = parts - spared or parts
    return parts


def _made_owners(case: Evidence, owners: Iterable[str]) -> Iterator[Blame]:
    """Yield the runs that made what a value belonged to anew, so that it belongs to the old one."""
    since = [run for run in case.history if run.started > case.against.started]
    for owner in owners:
        makers = [run for run in since if owner in run.writes and makes_anew(run, owner)]
        yield from (Blame(run, f"made {owner} anew") for run in makers[-1:])


def _cause(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> Cause:
    parts = _parts_told(case, name, before, after)
    apart = parts < changed_parts(before, after).keys() or parts == {"grad"}
    only = parts if apart else None  # whatever became of others meanwhile
    blame = find_shower(case, name) if is_result(name) else find_changers(case, name, only)
    makers = [run for run in case.history if name in run.writes]
    anew = after.kind == "class" and (not blame or any(each.how == REDEFINED for each in blame))
    owners = owners_lost(before.parts.get(BELONGS), after.parts.get(BELONGS))
    cut_off = list(_made_owners(case, owners))
    if cut_off:
        message = f"{name} had changed: no longer belongs to {' and '.join(owners)}"
        blame = cut_off
    elif is_another(before, after):
        was, now = (each.summary.partition(",")[0] for each in (before, after))
        message = f"{name} had changed: {was} → {now}"
    elif anew or "code" in changed_parts(before, after):
        said = say_parts(before, after, only) if after.kind == "class" else ""
        message = f"{name} was redefined{f': {said}' if said else ''}"
    elif any(name in run.timed for run in makers[-1:]):
        message = f"{name} {READING}"
    elif after.opaque:
        message = f"{name} has moved on"
    elif batch := say_batch_size(case, name, before, after):
        message = batch
    else:
        said = say_parts(before, after, only) if only else ""
        far = said or how_far(before, after)
        told = any(each.how == f"changed {far}" or each.how.endswith(far) for each in blame)
        message = f"{name} had changed" + ("" if told else f": {far}")
    blame = [*find_module_writers(case, name), *blame, *find_left_out(case, name)]
    doings = [
        f"{case.name(each.run)}{':' * each.how.startswith('the ')} {each.how}"
        for each in blame[-MOST_TOLD:]
        if each.run
    ]
    if doings:
        message += f"{';' if ': ' in message else ':'} {', '.join(doings)}"
    return Cause(
        kind="input",
        name=name,
        message=message,
        proof=f"content {before.digest[:8]} → {after.digest[:8]}",
        blame=tuple(blame),
    )
