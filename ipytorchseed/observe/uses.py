"""Finds the bytecode instructions that read and set variables of the notebook."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from types import CodeType

from msgspec import Struct

_WORD = re.compile(r"[^\W\d]\w*")


class Use(Struct, frozen=True):
    """An instruction that reads or sets a variable.

    Attributes:
        name: The name of the variable, or of a parameter of the function.
        is_read: Whether the variable is read, rather than set or deleted.
        part: The part that is read, such as ``.lr`` or ``['rate']``; empty for the whole variable.
        call: The method of the variable that is called, then constant arguments, one per line.
        to: The function to which the variable is passed as an argument.
        at: The position or keyword of that argument.
        defined: The offset of the instruction, if a ``def`` sets the variable; else 0.
        is_local: Whether the variable is a parameter.
    """

    name: str
    is_read: bool
    part: str = ""
    call: str = ""
    to: str = ""
    at: int | str = 0
    defined: int = 0
    is_local: bool = False


_LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"})
_STORES = frozenset({"STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL"})
_NAMES = {dis.opmap[name]: name for name in _LOADS | _STORES if name in dis.opmap}
_GLOBAL, _NULL = dis.opmap["LOAD_GLOBAL"], dis.opmap["PUSH_NULL"]

# Whether the null that ``LOAD_GLOBAL`` pushes for a call is above the function on the stack.
_NULL_ABOVE = sys.version_info >= (3, 13)

# How many flag bits are below the name's index in the argument of these instructions.
_SHIFTS = {_GLOBAL: 1, dis.opmap["LOAD_ATTR"]: 1, dis.opmap.get("LOAD_SUPER_ATTR", -1): 2}

_LOCALS = {op: name.count("LOAD_FAST") for name, op in dis.opmap.items() if "LOAD_FAST" in name}
# The instructions in ``_LOCALS`` that load two variables.
_PAIRED = {op for op in _LOCALS if dis.opname[op].count("_FAST") > 1}

_CACHE, _EXTENDED = dis.opmap.get("CACHE", 0), dis.EXTENDED_ARG
_ATTRIBUTE, _CONSTANT = dis.opmap["LOAD_ATTR"], dis.opmap["LOAD_CONST"]
_ITEM = dis.opmap.get("BINARY_SUBSCR", -1)
_CALL, _CALL_KW = dis.opmap.get("CALL", -1), dis.opmap.get("CALL_KW", -1)
_CALLED = frozenset({_NULL, _CALL})
_TAKES = dis.opmap["GET_ITER"]
_ITERATES = {_TAKES, dis.opmap["FOR_ITER"]}
_KEYWORDS = dis.opmap.get("KW_NAMES", -1)
_DEFINES = frozenset({dis.opmap["MAKE_FUNCTION"], dis.opmap.get("SET_FUNCTION_ATTRIBUTE", -1)})
_PURE = re.compile(
    "LOAD_|PUSH_NULL|CALL(_KW)?$|(BINARY|COMPARE|UNARY)_|(IS|CONTAINS)_OP"
    "|BUILD_(LIST|MAP|SET|SLICE|STRING|TUPLE)$"
).match
# Instructions that pop values and push one, or only push values.
_STEADY = {op for name, op in dis.opmap.items() if _PURE(name)}

# The function through which ``%`` and ``!`` call the shell.
SHELL = "get_ipython"

_Step = tuple[int, int, int, int]
_Argument = tuple[str, int | str]


def find_uses(code: CodeType, *, sets: bool, closely: bool = False) -> dict[int, tuple[Use, ...]]:
    """Return the instructions that read or set global variables.

    Args:
        code: The code of a cell or of a user's function. Nested code is not searched.
        sets: Whether names that the code sets are global. In the body of a class, they are not.
        closely: Whether to find arguments, definitions and parameters too, which takes ten times as
            long.

    Returns:
        The uses, by the offset that ``sys.monitoring`` reports for the instruction.
    """
    found: dict[int, tuple[Use, ...]] = {}
    steps = [*_steps(code)]
    given = _arguments(code, steps) if closely and sets else {}
    for place, (begin, offset, op, arg) in enumerate(steps):
        kind = _NAMES.get(op)
        if kind in _LOADS:
            name = _global_name(code, op, arg)
            part = _follow(code, steps, place, name)
            use = Use(name, True, *part, *given.get((place, 0), ("", 0)))  # noqa: FBT003 -- its field
            found[begin] = found[offset] = (use,)
        elif kind is not None and (sets or kind not in ("STORE_NAME", "DELETE_NAME")):
            defined = begin if closely and steps[place - 1][2] in _DEFINES else 0
            use = Use(code.co_names[arg], False, defined=defined)  # noqa: FBT003 -- as above
            found[begin] = found[offset] = (use,)
        elif closely and op in _LOCALS:
            found[begin] = found[offset] = _of_parameters(code, steps, place, given)
    return found


def find_loops(code: CodeType) -> dict[int, str]:
    """Return the loops in code as ``for … in x``, by offset of the instruction."""
    found: dict[int, str] = {}
    name = loop = ""
    for begin, offset, op, arg in _steps(code):
        if _NAMES.get(op) in _LOADS:
            name = _global_name(code, op, arg)
        elif op in _LOCALS:
            name = code.co_varnames[arg & 15 if op in _PAIRED else arg]
        elif op == _ATTRIBUTE:
            name = name and f"{name}.{code.co_names[arg >> 1]}"
        elif op in _ITERATES:
            loop = (name and f"for … in {name}") if op == _TAKES else loop
            found |= {begin: loop, offset: loop}
        elif op != _CALL:  # a call such as `enumerate(x)` keeps the name
            name = ""
    return found


def _global_name(code: CodeType, op: int, arg: int) -> str:
    return code.co_names[arg >> 1 if op == _GLOBAL else arg]


def _of_parameters(
    code: CodeType, steps: list[_Step], place: int, given: Mapping[tuple[int, int], _Argument]
) -> tuple[Use, ...]:
    """Return the uses of parameters by an instruction that loads local variables."""
    _, _, op, arg = steps[place]
    count = _LOCALS[op]
    numbers = (arg >> 4, arg & 15)[-count:] if op in _PAIRED else (arg,)
    uses = []
    for nth, number in enumerate(numbers):
        if number < code.co_argcount + code.co_kwonlyargcount:
            name = code.co_varnames[number]
            part = _follow(code, steps, place, name) if nth + 1 == count else ("", "")
            to = given.get((place, nth), ("", 0))
            uses.append(Use(name, True, *part, *to, is_local=True))  # noqa: FBT003 -- its field
    return tuple(uses)


def _arguments(code: CodeType, steps: list[_Step]) -> dict[tuple[int, int], _Argument]:
    """Return the loads of variables that are arguments of calls.

    Returns:
        The called variable, and the position or keyword, by place of the instruction in ``steps``
        and by number among the variables that the instruction loads.
    """
    taken: dict[int, list[tuple[int, int, int]]] = {}  # by call: depth, place and number
    labels = {*dis.findlabels(code.co_code)}  # type: ignore[arg-type] # bytes
    joins = {at for at, step in enumerate(steps) if not labels.isdisjoint(step[:2])}
    for place, (_, _, op, arg) in enumerate(steps):
        for nth in range(_LOCALS.get(op, op in _NAMES)):
            above = _LOCALS[op] - 1 - nth if op in _LOCALS else op == _GLOBAL and arg & _NULL_ABOVE
            call, depth = _find_taker(steps, joins, place + 1, above)
            if call:
                taken.setdefault(call, []).append((depth, place, nth))
    found: dict[tuple[int, int], _Argument] = {}
    for call, loads in taken.items():
        _, _, op, count = steps[call]
        names = steps[call - 1]  # of keywords; in 3.12 a separate instruction
        by_name = code.co_consts[names[3]] if op == _CALL_KW or names[2] == _KEYWORDS else ()
        ats = (*range(count - len(by_name)), *by_name)[::-1]
        callee = next((at for depth, at, _ in loads if depth >= count + (op == _CALL_KW)), None)
        if callee is not None and steps[callee][2] in _NAMES:
            _, _, load, number = steps[callee]
            to = code.co_names[number >> 1 if load == _GLOBAL else number]
            for depth, place, nth in loads:
                if place != callee:
                    found[place, nth] = to, ats[depth - (op == _CALL_KW)]
    return found


def _find_taker(
    steps: list[_Step], joins: Collection[int], place: int, above: int
) -> tuple[int, int]:
    """Return the place of the call that pops a value, and the number of values above.

    Return zeros if another instruction pops the value, or if a jump or jump target comes first.

    Args:
        steps: The instructions.
        joins: The places of jump targets.
        place: The place at which to start.
        above: The number of values on the stack above the value.
    """
    for at in range(place, len(steps)):
        _, _, op, arg = steps[at]
        if op == _KEYWORDS:
            continue
        if op not in _STEADY or at in joins:
            break
        effect = dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None)
        if above < (1 if op == _ATTRIBUTE else max(0, 1 - effect)):
            return (at, above) if op in (_CALL, _CALL_KW) else (0, 0)
        above += effect
    return 0, 0


def _steps(code: CodeType) -> Iterator[_Step]:
    """Yield each instruction: start (with prefixes), offset, operation and argument."""
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


def _follow(code: CodeType, steps: list[_Step], place: int, name: str) -> tuple[str, str]:
    """Return ``Use.part`` and ``Use.call`` for an instruction that loads a variable."""
    place += 1
    while name == SHELL and place < len(steps) and steps[place][2] in _CALLED:
        place += 1
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


def words_in(code: CodeType, but: Collection[str] = ()) -> set[str]:
    """Return the words in string constants, which a library may use as names.

    Args:
        code: The code.
        but: Strings to leave out.
    """
    texts = (const for const in code.co_consts if isinstance(const, str) and const not in but)
    return {word for text in texts for word in _WORD.findall(text)}


def names_in(code: CodeType) -> set[str]:
    """Return the names that code and its nested code may look up."""
    nested = (const for const in code.co_consts if isinstance(const, CodeType))
    return {*code.co_names}.union(*map(names_in, nested))


def names_at(code: CodeType, places: set[int]) -> set[str]:
    """Return the names in the instructions at these offsets."""
    return {
        code.co_names[arg >> _SHIFTS.get(op, 0)]
        for begin, offset, op, arg in _steps(code)
        if op in dis.hasname and not places.isdisjoint((begin, offset))
    }
