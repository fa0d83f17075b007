"""What a compiled function does with global names, read from its instructions.

A function's source may be gone or have changed since; its code object is what runs. The
interpreter's stack is followed in guesses, instruction by instruction: where a guess is lost, less
is known, never something else.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING

from ipytorchseed.reads.calls import ask_order, combine, items_of, leak, note_call
from ipytorchseed.reads.flow import Flow
from ipytorchseed.reads.guess import NEUTRAL, NOTHING, UNKNOWN, UNKNOWN_ORDER, Guess, either, named
from ipytorchseed.reads.opcodes import (
    BINARY,
    CALLS,
    COMPREHENSIONS,
    JUMPS,
    KEYWORDS,
    LOADS_LOCAL,
    NEVER_FALLS_THROUGH,
    NULL_FOR_KEYWORDS,
    PUSHES_NOTHING,
    ROTATIONS,
    SILENT,
    TWO_LOADS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = Guess(pure=True)


_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"})


@lru_cache(maxsize=4096)
def flow_of_code(code: CodeType) -> Flow:
    """Return what a function, and those made inside it, do with global names.

    Args:
        code: The function's code object.
    """
    reader = _Reader(code)
    try:
        reader.read()
    except (RecursionError, ValueError, IndexError):  # bytecode made by hand
        reader.flow.complete = False
    return reader.flow


class _Reader:
    """Follows one code object."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.flow = Flow()
        self.stack: list[Guess] = []
        self.local: dict[str, Guess] = {}
        self.level = 0
        """The last number loaded: for an import, how many folders up."""
        self.alone = True
        """Whether the next instruction takes no attribute of what this one pushes."""
        self.null = False
        """Whether the last instruction pushed the interpreter's NULL."""

    def read(self) -> None:
        """Follow every instruction, in the order in which they stand."""
        meets: dict[int, list[Guess]] = {}
        falls_through = True
        steps = [*dis.get_instructions(self.code)]
        for at, step in enumerate(steps):
            if not falls_through:
                self.stack = list(meets.get(step.offset, ()))
            elif step.offset in meets and len(meets[step.offset]) == len(self.stack):
                self.stack = list(map(either, meets[step.offset], self.stack))
            name = step.opname
            if name in SILENT:
                self.null = name == "PUSH_NULL"
                continue
            self.alone = at + 1 == len(steps) or steps[at + 1].opname not in _ATTRIBUTES
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, step)
            else:
                self._other(step)
            if step.opcode in JUMPS:
                meets.setdefault(step.argval, list(self.stack))
            falls_through = name not in NEVER_FALLS_THROUGH
            self.null = False
        for constant in self.code.co_consts:
            if isinstance(constant, CodeType):
                self.flow.add(flow_of_code(constant))

    # -- the stack -----------------------------------------------------------------------------

    def pop(self) -> Guess:
        """Take the topmost guess; nothing is known below the bottom."""
        return self.stack.pop() if self.stack else UNKNOWN

    def pop_many(self, count: int) -> list[Guess]:
        """Take the topmost guesses, in the order in which they were pushed."""
        return [self.pop() for _ in range(count)][::-1]

    def push(self, guess: Guess = UNKNOWN) -> None:
        """Put a guess on top."""
        self.stack.append(guess)

    def load(self, name: str) -> None:
        """Look up a global name."""
        self.flow.read(name)
        if self.alone:
            self.flow.paths.add(name)
        self.push(named(name))

    def _other(self, step: dis.Instruction) -> None:
        """Follow an instruction of which only the effect on the stack's height is known."""
        effect = dis.stack_effect(step.opcode, step.arg, jump=False)
        if effect > 0:
            self.stack += [UNKNOWN] * effect
            return
        taken = self.pop_many(-effect if step.opname in PUSHES_NOTHING else 1 - effect)
        leak(self.flow, *taken)
        if step.opname not in PUSHES_NOTHING:
            self.push()

    # -- instructions ----------------------------------------------------------------------------

    def load_global(self, step: dis.Instruction) -> None:
        self.load(str(step.argval))

    def load_over(self, step: dis.Instruction) -> None:
        self.pop()
        self.load(str(step.argval))

    def load_local(self, step: dis.Instruction) -> None:
        self.push(self.local.get(str(step.argval), UNKNOWN))

    def load_two(self, step: dis.Instruction) -> None:
        for name in step.argval:
            self.push(self.local.get(name, UNKNOWN))

    def load_constant(self, step: dis.Instruction) -> None:
        value = step.argval
        if value is None:
            self.push(NOTHING)
        elif type(value) in (int, float, bool):
            self.push(NEUTRAL)
            self.level = value if type(value) is int else 0
        elif type(value) is CodeType:
            self.push(Guess(tail=value.co_name))
        elif type(value) is frozenset:
            self.push(Guess(order=_order_of(value), is_set=True))
        else:
            self.push(_TEXT if type(value) is str else UNKNOWN)

    def load_attribute(self, step: dis.Instruction) -> None:
        guess = self.pop().attribute(str(step.argval))
        self.flow.attributes.add(str(step.argval))
        self.flow.paths.update(guess.paths)
        self.push(guess)

    def load_super(self, _: dis.Instruction) -> None:
        self.pop_many(3)
        self.push()

    def store_local(self, step: dis.Instruction) -> None:
        self.local[str(step.argval)] = self.pop()

    def store_two(self, step: dis.Instruction) -> None:
        for name in step.argval:
            self.local[name] = self.pop()

    def store_load(self, step: dis.Instruction) -> None:
        stored, loaded = step.argval
        self.local[stored] = self.pop()
        self.push(self.local.get(loaded, UNKNOWN))

    def store_global(self, step: dis.Instruction) -> None:
        guess = self.pop()
        self.flow.writes.add(str(step.argval))
        self._hold(str(step.argval), guess)

    def delete_global(self, step: dis.Instruction) -> None:
        self.flow.writes.add(str(step.argval))

    def store_attribute(self, step: dis.Instruction) -> None:
        base, guess = self.pop(), self.pop()
        self.flow.paths.update(f"{path}.{step.argval}=" for path in base.paths)
        self._hold(str(step.argval), guess)

    def _hold(self, name: str, guess: Guess) -> None:
        leak(self.flow, guess)
        if guess.is_set and not guess.order.startswith("is:"):
            self.flow.holds.add(name)
        elif guess.order and not guess.is_set:
            ask_order(self.flow, guess.order)

    def import_name(self, step: dis.Instruction) -> None:
        names, _ = self.pop(), self.pop()
        module, package = str(step.argval), str(step.argval).partition(".")[0]
        if not self.level:
            self.flow.imports.add(package)
        found = package if names.nothing else module
        self.push(named(f":{'.' * self.level}{found}"))

    def import_from(self, step: dis.Instruction) -> None:
        guess = self.stack[-1] if self.stack else UNKNOWN
        made = guess.attribute(str(step.argval))
        if guess.paths == (f":{'.' * self.level}",):  # from . import name
            made = named(f"{guess.paths[0]}{step.argval}")
        self.flow.paths.update(made.paths)
        self.push(made)

    def make_function(self, step: dis.Instruction) -> None:
        taken = self.pop_many(1 - dis.stack_effect(step.opcode, step.arg, jump=False))
        tails = [guess.tail for guess in taken if guess.tail in COMPREHENSIONS]
        self.push(Guess(tail=tails[0]) if tails else UNKNOWN)

    def copy(self, step: dis.Instruction) -> None:
        depth = step.arg or 1
        self.push(self.stack[-depth] if len(self.stack) >= depth else UNKNOWN)

    def swap(self, step: dis.Instruction) -> None:
        depth = step.arg or 1
        if len(self.stack) >= depth:
            self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]

    def drop(self, _: dis.Instruction) -> None:
        self.pop()

    def give(self, step: dis.Instruction) -> None:
        guess = self.pop()
        leak(self.flow, guess)
        if guess.is_set and not guess.order.startswith("is:"):
            self.flow.holds.add(f"{self.code.co_name}()")
        elif guess.order:
            ask_order(self.flow, guess.order)
        if step.opname == "YIELD_VALUE":
            self.push()

    def begin_loop(self, _: dis.Instruction) -> None:
        guess = self.pop()
        leak(self.flow, guess)
        self.push(Guess(order=guess.own_order()))  # asked by the loop, or by who takes the items

    def loop(self, _: dis.Instruction) -> None:
        if self.stack:
            ask_order(self.flow, self.stack[-1].order)
        self.push()

    def delegate(self, _: dis.Instruction) -> None:
        ask_order(self.flow, self.pop().own_order())
        self.push()

    def rotate(self, step: dis.Instruction) -> None:
        depth = ROTATIONS[step.opname]
        if len(self.stack) >= depth:
            self.stack.insert(len(self.stack) - depth, self.stack.pop())

    def unpack(self, step: dis.Instruction) -> None:
        guess = self.pop()
        ask_order(self.flow, guess.own_order())
        leak(self.flow, guess)
        count = (step.arg or 0) if step.opname == "UNPACK_SEQUENCE" else 1 + (step.arg or 0) % 256
        self.stack += [UNKNOWN] * (
            count + ((step.arg or 0) >> 8 if step.opname == "UNPACK_EX" else 0)
        )

    def extend(self, _: dis.Instruction) -> None:
        ask_order(self.flow, self.pop().own_order())

    def build_set(self, step: dis.Instruction) -> None:
        items = self.pop_many(step.arg or 0)
        numbers = all(item.neutral for item in items)
        self.push(Guess(order="" if numbers else UNKNOWN_ORDER, is_set=True))

    def set_update(self, step: dis.Instruction) -> None:
        items = self.pop()
        depth = step.arg or 1
        order = items.order if items.is_set else items_of(items)
        if order and len(self.stack) >= depth:
            self.stack[-depth] = Guess(order=order, is_set=True)

    def build(self, step: dis.Instruction) -> None:
        count = step.arg or 0
        if step.opname == "BUILD_MAP":
            count *= 2
        items = self.pop_many(count + (step.opname == "BUILD_CONST_KEY_MAP"))
        clocks = frozenset().union(*(item.clocks for item in items))
        pure = bool(clocks) and all(item.pure or item.neutral for item in items)
        self.push(Guess(clocks=clocks, pure=pure) if clocks else UNKNOWN)

    def format_value(self, step: dis.Instruction) -> None:
        with_spec = step.opname == "FORMAT_WITH_SPEC" or (
            step.opname == "FORMAT_VALUE" and (step.arg or 0) & 4
        )
        if with_spec:
            self.pop()
        guess = self.pop()
        ask_order(self.flow, guess.own_order())
        self.push(Guess(clocks=guess.clocks, pure=guess.pure))

    def operate(self, step: dis.Instruction) -> None:
        right, left = self.pop(), self.pop()
        sign = BINARY.get(step.opname) or str(step.argrepr).removesuffix("=")
        if sign == "[]":
            self.push(Guess(clocks=left.clocks, pure=left.pure))
        elif sign in ("+", "-", "*", "/", "//", "%", "|", "&", "^"):
            sets, text = sign in ("-", "|", "&", "^"), sign == "%"
            self.push(combine(self.flow, left, right, of_sets=sets, of_text=text))
        else:
            leak(self.flow, left, right)
            self.push()

    def call(self, step: dis.Instruction) -> None:
        if step.opname in KEYWORDS:
            self.pop()
        args = self.pop_many(step.arg or 0)
        func = self.pop()
        below = self.stack[-1].tail if self.stack and not args else ""
        if below in COMPREHENSIONS:  # called with its iterator in the callable's place
            args, func = [func], self.pop()
        if func.tail in COMPREHENSIONS:
            order = args[0].order if args else ""
            is_set = func.tail == "<setcomp>"
            if func.tail == "<dictcomp>":
                ask_order(self.flow, order)
            self.push(Guess(order=UNKNOWN_ORDER if is_set else order, is_set=is_set))
            return
        self.push(note_call(self.flow, func, args))

    def call_spread(self, step: dis.Instruction) -> None:
        named_too = not self.null if NULL_FOR_KEYWORDS else bool((step.arg or 0) & 1)
        args = self.pop_many(2 if named_too else 1)
        for arg in args:
            ask_order(self.flow, arg.own_order())
        self.push(note_call(self.flow, self.pop(), args, more=True))


def _order_of(value: frozenset[object]) -> str:
    return "" if all(type(item) in (int, float, bool) for item in value) else UNKNOWN_ORDER


def _table() -> dict[str, Callable[[_Reader, dis.Instruction], None]]:
    table: dict[str, Callable[[_Reader, dis.Instruction], None]] = {
        "LOAD_GLOBAL": _Reader.load_global,
        "LOAD_NAME": _Reader.load_global,
        "LOAD_CONST": _Reader.load_constant,
        "LOAD_SMALL_INT": _Reader.load_constant,
        "LOAD_ATTR": _Reader.load_attribute,
        "LOAD_METHOD": _Reader.load_attribute,
        "LOAD_SUPER_ATTR": _Reader.load_super,
        "STORE_FAST": _Reader.store_local,
        "STORE_DEREF": _Reader.store_local,
        "STORE_FAST_STORE_FAST": _Reader.store_two,
        "STORE_FAST_LOAD_FAST": _Reader.store_load,
        "STORE_GLOBAL": _Reader.store_global,
        "STORE_NAME": _Reader.store_local,
        "DELETE_GLOBAL": _Reader.delete_global,
        "STORE_ATTR": _Reader.store_attribute,
        "IMPORT_NAME": _Reader.import_name,
        "IMPORT_FROM": _Reader.import_from,
        "MAKE_FUNCTION": _Reader.make_function,
        "COPY": _Reader.copy,
        "DUP_TOP": _Reader.copy,
        "SWAP": _Reader.swap,
        "POP_TOP": _Reader.drop,
        "RETURN_VALUE": _Reader.give,
        "YIELD_VALUE": _Reader.give,
        "GET_ITER": _Reader.begin_loop,
        "FOR_ITER": _Reader.loop,
        "GET_YIELD_FROM_ITER": _Reader.delegate,
        "LOAD_FROM_DICT_OR_GLOBALS": _Reader.load_over,
        "UNPACK_SEQUENCE": _Reader.unpack,
        "UNPACK_EX": _Reader.unpack,
        "LIST_EXTEND": _Reader.extend,
        "BUILD_SET": _Reader.build_set,
        "SET_UPDATE": _Reader.set_update,
        "BUILD_LIST": _Reader.build,
        "BUILD_TUPLE": _Reader.build,
        "BUILD_MAP": _Reader.build,
        "BUILD_CONST_KEY_MAP": _Reader.build,
        "BUILD_STRING": _Reader.build,
        "FORMAT_VALUE": _Reader.format_value,
        "FORMAT_SIMPLE": _Reader.format_value,
        "FORMAT_WITH_SPEC": _Reader.format_value,
        "BINARY_OP": _Reader.operate,
        "CALL_FUNCTION_EX": _Reader.call_spread,
    }
    table |= dict.fromkeys(LOADS_LOCAL, _Reader.load_local)
    table |= dict.fromkeys(TWO_LOADS, _Reader.load_two)
    table |= dict.fromkeys(CALLS, _Reader.call)
    table |= dict.fromkeys(ROTATIONS, _Reader.rotate)
    table |= dict.fromkeys(BINARY, _Reader.operate)
    return table


_HANDLERS = _table()
