"""What a compiled function does with global names, told from its source.

Where the source is gone, less is known, never something else: the names that are looked up, and the
attributes of what they lead to.
"""

from __future__ import annotations

import builtins
import dis
from types import CodeType

from ipytorchseed.introspection.anatomy import PerObject
from ipytorchseed.reads.entropy import ANY
from ipytorchseed.reads.evaluator import follow_function
from ipytorchseed.reads.flow import Flow
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.reads.scope import Reader, TooMuchError
from ipytorchseed.reads.source import find_source

_LONGEST = 50_000
"""Bytes of code that is read by more than its names: some 25 ms."""

_HIDES_NOTHING = {*vars(builtins)} - {"__import__", "compile", "eval", "exec", "globals", "vars"}


def _flow_of_code(code: CodeType) -> Flow:
    flow = Flow()
    try:
        found = find_source(code) if len(code.co_code) <= _LONGEST else []
        for function in found:
            flow.add(follow_function(function, code.co_freevars, Reader(parse_text)))
    except (RecursionError, TooMuchError):
        found = []
    return flow if found else _flow_of_names(code)


def _flow_of_names(code: CodeType) -> Flow:
    """Collect the names that code looks up, in functions made inside it too.

    It is complete where these are builtins: such are the functions that ``dataclass`` writes.
    """
    flow = Flow()
    stack = [code]
    while stack:
        each = stack.pop()
        stack += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        if len(each.co_code) <= _LONGEST:
            _add_names(flow, each)
        else:
            flow.reads |= dict.fromkeys(each.co_names, frozenset())
            flow.complete = False
    flow.complete &= flow.reads.keys() <= _HIDES_NOTHING
    return flow


def _add_names(flow: Flow, code: CodeType) -> None:
    path = ""
    for step in dis.get_instructions(code):
        name = step.opname
        if path and name in ("LOAD_ATTR", "LOAD_METHOD"):
            path = f"{path}.{step.argval}"
            flow.attributes.add(step.argval)
            continue
        if path:
            flow.paths.add(path)
            flow.call(path, ANY)
            path = ""
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            path = step.argval
            flow.read(path)
        elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            flow.writes.add(step.argval)
        elif name == "IMPORT_NAME":
            flow.complete = False
            flow.imports |= {step.argval.partition(".")[0]} - {""}
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            flow.attributes.add(step.argval)


flow_of_code: PerObject[CodeType, Flow] = PerObject(_flow_of_code)
"""Returns what a function does with global names; worked out once for each code object."""
