"""Finds inputs with other content than before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ipytorchseed.fingerprint.value import BELONGS, Fingerprint, same
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.reads.methods import INSIDE, LAYER
from ipytorchseed.reads.renewals import EVERY, FITTED
from ipytorchseed.why.evidence import Evidence, differ
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import (
    MOST_TOLD,
    REDEFINED,
    find_changers,
    find_left_out,
    find_module_writers,
    find_shower,
    makes_anew,
)
from ipytorchseed.why.value_changes import (
    changed_parts,
    how_far,
    is_another,
    owners_lost,
    say_parts,
)

READING = "is what a clock said, or an address: another each time"
"""Said of a variable that holds nothing else."""

_OTHER_PARTS = "changed in parts that the cell does not read"

_COUNTED = "differs only in what it counts, which the cell does not read"

_BATCHES = "num_batches_tracked"
"""The end of the names of buffers that count, and that layers do not heed as a rule."""

_OVERWRITTEN = "set anew by the cell before it reads it"

_EMPTIED = frozenset({"deque", "dict", "list", "optimizer", "scheduler", "set"})
"""Kinds of which nothing is left by ``clear()`` or ``load_state_dict()``, but for ``_KEPT``."""

_KEPT = frozenset({"beside", "hooks", "maxlen"})
"""Parts that stay: a default factory, attributes of a subclass, hooks, the most items."""

_INITIALISED = "initialised anew by the cell before it reads it"

_CLEARS = lazy_pattern(r"(?<![\w.\[\]'\"])([\w.\[\]'\"]{1,80})\.zero_grad\(")
_STEPS = lazy_pattern(r"\b(\w+)\.step\(")
"""Find what a cell clears the gradients of, and what it steps."""

_MAY_MISS = lazy_pattern(r"\bexcept\b|\bsuppress\(")
"""Text that goes on where an item is not there."""

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
        cause = _cause(case, name, before, after)
        yield Cleared("input", name, harmless, cause) if harmless else cause


def _harmless(case: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> str:
    """Say why a value with another digest cannot account for the change, or return nothing."""
    moved = _parts_read(case, name, before, after)
    if not moved:
        return _OTHER_PARTS
    anew = _parts_set_anew(case, name, moved)
    moved -= anew | _size_without(anew, before, after)
    if not moved:
        return _OVERWRITTEN
    if _is_counted(case, moved):
        return _COUNTED
    if moved <= _without_effect(case):
        return f"{_ONLY}{' and '.join(_ASPECTS[each] for each in sorted(moved))}"
    replaced = _replaced(before) | _replaced(after) | _without_effect(case)
    if moved <= replaced and _set_anew(case, name, after):
        return _set_anew(case, name, after)
    return _borrowed(case, after) if {_BORROWED.get(after.kind, ("",))[0]} == moved else ""


def _is_counted(case: Evidence, moved: Collection[str]) -> bool:
    """Return whether all that differs is what code counts and does not read."""
    counters = {f"a:{each}" for each in {*case.run.counted} & {*case.against.counted}}
    return all(part in counters or part.endswith(_BATCHES) for part in moved)


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
    anew = _parts_set_anew(case, name, parts)
    for spared in (anew, _without_effect(case), borrowed, replaced):
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
