"""Evaluates conditions, and what is known where they hold and where they do not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from itertools import product

from msgspec.structs import replace

from ipytorchseed.reads.abstract import AbstractValue, join
from ipytorchseed.reads.decisions import LOOKS, Decision, decision
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.parsing import nodes_in
from ipytorchseed.reads.renewals import overlap
from ipytorchseed.reads.scope import Scope, State, evaluates


@evaluates("BoolOp")
def _boolop(scope: Scope, node: ast.BoolOp) -> AbstractValue:
    abstract = scope.visit(node.values[0])
    ends = []
    for value in node.values[1:]:
        ends.append(scope.state())
        abstract = join(abstract, scope.visit(value))
    scope.join([scope.state(), *ends])
    return abstract


@evaluates("IfExp")
def _ifexp(scope: Scope, node: ast.IfExp) -> AbstractValue:
    yes, no = branches(scope, node.test)
    abstracts, ends = [], []
    for state, part in ((yes, node.body), (no, node.orelse)):
        if not state.dead:
            scope.resume(state)
            abstracts.append(scope.visit(part))
            ends.append(scope.state())
    scope.join(ends)
    return join(abstracts[0], abstracts[-1])


def branches(scope: Scope, node: ast.expr) -> tuple[State, State]:
    """Follow a condition: return what holds where it is true, and where it is false."""
    answer = constant_answer(node)
    if answer is not None:
        dead = State(set(), {}, dead=True)
        return (scope.state(), dead) if answer else (dead, scope.state())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yes, no = branches(scope, node.operand)
        return no, yes
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And)
        ends = []
        for place, value in enumerate(node.values, 1):
            on, off = branches(scope, value) if both else reversed(branches(scope, value))
            if on.dead and constant_answer(value) is None:  # the others might be asked next time
                scope.resume(replace(off, assigned={*off.assigned}, bound={**off.bound}))
                for other in filter(_is_plain, node.values[place:]):
                    scope.consume(scope.visit(other))
            ends.append(off)
            scope.resume(on)
            if on.dead:
                break
        last = scope.state()
        scope.join(ends)
        early = scope.state()
        return (last, early) if both else (early, last)
    scope.consume(scope.visit(node))
    answer = answer_of_flag(scope, node)
    if answer is not None:
        dead = State(set(), {}, dead=True)
        return (scope.state(), dead) if answer else (dead, scope.state())
    return scope.state(), scope.state()


def _is_plain(node: ast.expr) -> bool:
    """Tell whether a condition hangs on names alone, and calls nothing."""
    calls = any(isinstance(each, ast.Call) for each in nodes_in(node))
    return not calls and decision(node) is not None


def answer_of_flag(scope: Scope, node: ast.expr) -> bool | None:
    """Note what decides on a branch, names or parameters, and tell how where that is known."""
    found, reader = decision(node), scope.reader
    if found is None:
        return None
    if found.names <= reader.deciding:
        scope.effects.options |= found.names
        return found.answer(reader.arguments)
    ours = (scope.local, scope.assigned, scope.bound.keys())
    if not all(map(found.names.isdisjoint, ours)):
        return None
    text = ast.unparse(node)
    first = scope.is_cell and not scope.loops and found.names.isdisjoint(scope.effects.writes)
    known = scope.effects.flags.get(text)
    scope.effects.flags[text] = replace(found, first=first and (known is None or known.first))
    return reader.answers.get(text)


def touched(effects: Effects) -> set[str]:
    """Return paths of what some code may change inside, as it does not merely look at it."""
    found = {each[0] for each in effects.given} | effects.handed | effects.filled
    found |= {path[:-1] for path in effects.paths if path.endswith("=")}
    called = (path.rpartition(".") for path in effects.calls)
    return found | {owner for owner, _, method in called if owner and method not in LOOKS}


def known_flags(effects: Effects, names: Mapping[str, object]) -> dict[str, bool]:
    """Return what conditions come to that decide on branches of some code, which does not set them.

    Args:
        effects: What the code does.
        names: The namespace.
    """
    whole = effects.complete and not effects.files and not effects.stars
    changed = touched(effects) if whole else set()
    answers = {
        text: each.answer(names)
        for text, each in sorted(effects.flags.items() if whole else ())
        if (each.first or effects.writes.isdisjoint(each.names))
        and not (
            each.looks_inside(names)
            and any(overlap(*pair) for pair in product(each.paths, changed))
        )
    }
    return {text: answer for text, answer in answers.items() if answer is not None}


def supposed_by(found: Collection[Decision], names: Mapping[str, object]) -> set[str]:
    """Return what of the namespace holds what it held, if conditions come to what they do now.

    Names; with a colon at the end where only other code than the cell's must not set them, and
    paths with a dot where also what they hold must be as it was.
    """
    inside = {f"{path}." for each in found if each.looks_inside(names) for path in each.paths}
    ends = [(name, ":" if each.first else "") for each in found for name in each.names]
    return inside.union(f"{name}{end}" for name, end in ends)


def upset(supposed: Collection[str], changed: Collection[str]) -> bool:
    """Tell whether something does not hold what it held, both written as ``supposed_by`` does."""
    inside = [[each for each in names if each[-1] == "."] for names in (supposed, changed)]
    return not {*supposed}.isdisjoint(changed) or any(
        one.startswith(other) or other.startswith(one) for one, other in product(*inside)
    )


_ANSWERS = {"TYPE_CHECKING": False, "__debug__": __debug__}


def constant_answer(node: ast.expr) -> bool | None:
    """Tell whether a condition is always true, or always false; None where it hangs on more.

    ``__name__`` is ``"__main__"`` in a notebook.

    Args:
        node: The condition.
    """
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name):
        return _ANSWERS.get(node.id)
    if isinstance(node, ast.Attribute):
        return _ANSWERS.get(node.attr)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = [_as_name(node.left), _as_name(node.comparators[0])]
        if sorted(sides) == ["__main__", "__name__"]:
            return {ast.Eq: True, ast.NotEq: False}.get(type(node.ops[0]))
    return None


def _as_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
