"""What the instructions of Python 3.10 to 3.14 do to the interpreter's stack, by name."""

from __future__ import annotations

import dis
import sys

SILENT = frozenset(
    {"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "GEN_START", "KW_NAMES", "LOAD_CLOSURE_NULL"}
    | {"MAKE_CELL", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME", "SETUP_ANNOTATIONS"}
    | {"GET_AWAITABLE", "ASYNC_GEN_WRAP", "TO_BOOL"}
)
LOADS_LOCAL = frozenset(
    {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLASSDEREF"}
    | {"LOAD_FAST_AND_CLEAR"}
)
TWO_LOADS = frozenset({"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"})
CALLS = frozenset({"CALL", "CALL_FUNCTION", "CALL_METHOD", "CALL_KW", "CALL_FUNCTION_KW"})
KEYWORDS = frozenset({"CALL_KW", "CALL_FUNCTION_KW"})
NEVER_FALLS_THROUGH = frozenset(
    {"JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
    | {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
)
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
ROTATIONS = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}
NULL_FOR_KEYWORDS = sys.version_info >= (3, 14)
BINARY = {
    "BINARY_SUBSCR": "[]",
    "BINARY_ADD": "+",
    "BINARY_SUBTRACT": "-",
    "BINARY_MULTIPLY": "*",
    "BINARY_TRUE_DIVIDE": "/",
    "BINARY_FLOOR_DIVIDE": "//",
    "BINARY_MODULO": "%",
    "BINARY_AND": "&",
    "BINARY_OR": "|",
    "BINARY_XOR": "^",
    "INPLACE_ADD": "+",
    "INPLACE_SUBTRACT": "-",
    "INPLACE_AND": "&",
    "INPLACE_OR": "|",
    "INPLACE_XOR": "^",
}
"""The operators that have instructions of their own in Python 3.10."""

JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs}) - {
    dis.opmap[name]
    for name in NEVER_FALLS_THROUGH
    if name.endswith("BACKWARD") and name in dis.opmap
}
PUSHES_NOTHING = frozenset(
    name
    for name in dis.opmap
    if name.startswith(("POP_", "STORE_", "DELETE_", "END_", "JUMP_IF_NOT", "RAISE", "RERAISE"))
    or name in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
    or name in ("LIST_APPEND", "SET_ADD", "MAP_ADD", "DICT_UPDATE", "DICT_MERGE", "SETUP_FINALLY")
)
