"""What a compiled function does with global names, told from its source.

Where the source is gone, less is known, never something else: the names that are looked up, and the
attributes of what they lead to.
"""

from __future__ import annotations

import builtins
import dis
from types import CodeType

from ipytorchseed.introspection.anatomy import per_object
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ANY
from ipytorchseed.reads.evaluator import follow_function
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.reads.scope import Reader, TooMuchError
from ipytorchseed.reads.source import find_source

_LONGEST = 50_000
"""Bytes of code that is read by more than its names: some 25 ms."""

_HIDES_NOTHING = {*vars(builtins)} - {"__import__", "compile", "eval", "exec", "globals", "vars"}


def _effects_of_code(code: CodeType) -> Effects:
    effects = Effects()
    try:
        found = find_source(code) if len(code.co_code) <= _LONGEST else []
        for function in found:
            effects.add(follow_function(function, code.co_freevars, Reader(parse_text)))
    except (RecursionError, TooMuchError):
        found = []
    return effects if found else _effects_of_names(code)


def _effects_of_names(code: CodeType) -> Effects:
    """Collect the names that code looks up, in functions made inside it too.

    It is complete where these are builtins: such are the functions that ``dataclass`` writes.
    """
    effects = Effects()
    stack = [code]
    while stack:
        each = stack.pop()
        stack += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        if len(each.co_code) <= _LONGEST:
            _add_names(effects, each)
        else:
            effects.reads |= dict.fromkeys(each.co_names, frozenset())
            effects.complete = False
    effects.complete &= effects.reads.keys() <= _HIDES_NOTHING
    return effects


def _add_names(effects: Effects, code: CodeType) -> None:
    path = ""
    for step in dis.get_instructions(code):
        name = step.opname
        if path and name in ("LOAD_ATTR", "LOAD_METHOD"):
            path = f"{path}.{step.argval}"
            effects.attributes.add(step.argval)
            continue
        if path:
            effects.paths.add(path)
            effects.call(path, ANY)
            effects.actions[path] = None
            path = ""
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            path = step.argval
            effects.read(path)
        elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            effects.writes.add(step.argval)
        elif name == "IMPORT_NAME":
            effects.complete = False
            effects.imports |= {step.argval.partition(".")[0]} - {""}
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            effects.attributes.add(step.argval)


effects_of_code = per_object(_effects_of_code)
"""Returns what a function does with global names; worked out once for each code object."""
