"""Determines the effects of a compiled function from its source.

If the source is not available, only global names and names of attributes are collected.
"""

from __future__ import annotations

import builtins
import dis
from contextlib import suppress
from types import CodeType

from ipytorchseed.introspection.anatomy import per_object
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.source import find_source
from ipytorchseed.reads.walker import effects_of_functions

# In bytes. Code of this size takes about 25 ms. In longer code, only names are collected.
_MAX_CODE = 50_000

_HARMLESS = {*vars(builtins)} - {"__import__", "compile", "eval", "exec", "globals", "vars"}


def _effects_of_code(code: CodeType) -> Effects:
    found = find_source(code) if len(code.co_code) <= _MAX_CODE else []
    with suppress(RecursionError):
        if found:
            return effects_of_functions(found, code.co_freevars)
    return _effects_of_names(code)


def _effects_of_names(code: CodeType) -> Effects:
    """Collect the global names that code reads, including functions defined inside it.

    The result is complete only if all these names are builtins, as in functions that ``dataclass``
    generates.
    """
    effects = Effects()
    stack = [code]
    while stack:
        each = stack.pop()
        stack += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        if len(each.co_code) > _MAX_CODE:
            effects.reads |= dict.fromkeys(each.co_names)
            effects.complete = False
            continue
        for step in dis.get_instructions(each):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                effects.reads[step.argval] = None
                effects.paths.add(step.argval)
            elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                effects.writes.add(step.argval)
            elif step.opname == "IMPORT_NAME":
                effects.complete = False
                effects.actions[f"import {step.argval}"] = None
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                effects.attributes.add(step.argval)
    effects.complete &= effects.reads.keys() <= _HARMLESS
    return effects


# Returns the effects of a function on global names, cached for each code object.
effects_of_code = per_object(_effects_of_code)
