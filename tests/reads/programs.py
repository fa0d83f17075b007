"""Random programs, run along every path, with each lookup of a name recorded.

A program reads the names that its runs looked up before they set them. Predictions are compared
with these.
"""

from __future__ import annotations

import textwrap
from contextlib import contextmanager

from hypothesis import strategies as st

DATA = ("a", "b", "c", "d")
FUNCTIONS = ("f0", "f1", "f2")
MOST_RUNS = 100


class Thing:
    """A value that supports every operation."""

    def __call__(self, *_, **__):
        """Accept every call."""
        return Thing()

    def __add__(self, other):
        return Thing()

    def __iter__(self):
        return iter(())

    def __getattr__(self, name):
        return Thing()

    def __getitem__(self, key):
        return Thing()

    def __setitem__(self, key, value):
        pass


class Watched(dict):
    """A namespace that records lookups of names that have not been set yet."""

    def __init__(self, names):
        super().__init__(names)
        self.first = dict(names)
        self.read = set()

    def __getitem__(self, name):
        value = super().__getitem__(name)
        if name in self.first and self.first[name] is value:
            self.read.add(name)
        return value


class Boom(Exception):  # noqa: N818 -- the name in the programs
    """The error that a ``try`` in a program handles."""


def run(source):
    """Run a program along all its paths.

    Returns:
        The names read and the names set on any of them; None if there are too many.
    """
    code = compile(source, "<program>", "exec")
    read, written = set(), set()
    tapes = [[]]
    for runs in range(MOST_RUNS + 1):
        if not tapes:
            return read, written
        if runs == MOST_RUNS:
            break
        tape = tapes.pop()
        namespace = Watched({name: Thing() for name in DATA} | {name: _new() for name in FUNCTIONS})
        taken = _run(code, namespace, tape)
        tapes += [[*taken[:at], True] for at in range(len(tape), len(taken))]
        read |= namespace.read
        written |= {
            name
            for name in {*namespace, *namespace.first} - {"__builtins__", "__annotations__", "K"}
            if namespace.get(name) is not namespace.first.get(name)
        }
    return None


def _new():
    return lambda *_: Thing()


def _run(code, namespace, tape):
    taken = []

    def flip():
        taken.append(tape[len(taken)] if len(taken) < len(tape) else False)
        return taken[-1]

    def boom():
        if flip():
            raise Boom

    @contextmanager
    def ctx():
        yield Thing()

    def use(*values):
        """Record the arguments: the lookups of a class bypass the namespace's methods."""
        for value in values:
            namespace.read.update(name for name in DATA if namespace.first[name] is value)
        return Thing()

    namespace["__builtins__"] = {
        "__build_class__": __build_class__,
        "__name__": "program",
        "Boom": Boom,
        "boom": boom,
        "ctx": ctx,
        "flip": flip,
        "loop": lambda *_: iter([Thing(), Thing()][: 1 + flip()]),
        "map": lambda f, xs: [f(x) for x in xs],
        "use": use,
        "globals": lambda: namespace,
        "list": list,
        "eval": eval,
        "exec": exec,
    }
    exec(code, namespace)  # noqa: S102 -- programs are generated to be run
    return taken


# --------------------------------------------------------------------------------------------------
# Making programs


@st.composite
def programs(draw):
    """Draw a program from every statement that sets or reads names."""
    return "\n".join(draw(_blocks(3, FUNCTIONS, in_loop=False, local=False)))


def _name():
    return st.sampled_from(DATA)


@st.composite
def _expression(draw, functions, *, local=False):
    name, other = draw(_name()), draw(_name())
    forms = [
        f"{name}",
        f"use({name}, {other})",
        f"{name}.x",
        f"use({name})[use({other})]",
        f"f'{{{name}}}'",
        f"({name} if flip() else {other})",
        f"(flip() and use({name}))",
        f"({name} := use({other}))",
        f"[use({name}, {other}) for {name} in loop({other})]",
        f"list(use({name}) for {other} in loop({name}) if use({other}))",
        f"{{{name}: {other} for {other} in loop()}}",
        f"(lambda {name}={other}: use({name}))()",
        f"(flip() or ({name} := use()))",
    ]
    if not local:
        forms += [f"globals()['{name}']", f"eval('use({name})')"]
    if functions:
        called = draw(st.sampled_from(functions))
        forms += [f"{called}()", f"{called}({name})", f"map({called}, [{name}])"] * 2
    return draw(st.sampled_from(forms))


@st.composite
def _simple(draw, functions, *, in_loop, local):
    name, other = draw(_name()), draw(_name())
    expression = draw(_expression(functions, local=local))
    forms = [
        f"{name} = use({expression})",
        f"{name} = {other} = use({expression})",
        f"{name}, {other} = use(), use({expression})",
        f"use({expression})",
        f"{name} += use({expression})",
        f"{name}[use({other})] = use({expression})",
        f"{name} = {other}.y = use({expression})",
    ]
    if not local:
        forms += [f"{name}: use = use({expression})"]
        forms += [f"use({name}); del {name}; {name} = use()"]
        forms += [f"exec('{name} = use({other})')"]
    if in_loop:
        forms += ["if flip(): break", "if flip(): continue"]
    return draw(st.sampled_from(forms)).split("; ")


@st.composite
def _blocks(draw, depth, functions, *, in_loop, local):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        compound = depth > 0 and draw(st.booleans())
        part = _compound(depth - 1, functions, in_loop=in_loop, local=local) if compound else (
            _simple(functions, in_loop=in_loop, local=local)
        )  # fmt: skip
        lines += draw(part)
    return lines


@st.composite
def _compound(draw, depth, functions, *, in_loop, local):  # noqa: C901, PLR0911 -- one for each kind
    name, other = draw(_name()), draw(_name())

    def block(in_loop=in_loop, functions=functions, local=local):
        lines = draw(_blocks(depth, functions, in_loop=in_loop, local=local))
        return textwrap.indent("\n".join(lines), "    ").split("\n")

    kinds = ["if", "if else", "for", "for else", "while", "try", "try all", "with", "match"]
    kinds += ["class"] * (not local) + ["def", "def", "lambda"] * bool(functions and not local)
    kind = draw(st.sampled_from(kinds))
    if kind == "if":
        return [f"if flip() and use({name}):", *block()]
    if kind == "if else":
        return [
            "if flip():", *block(), f"elif not (flip() and ({name} := use())):", *block(),
            "else:", *block(),
        ]  # fmt: skip
    if kind == "for":
        return [f"for {name} in loop({other}):", *block(in_loop=True)]
    if kind == "for else":
        return [f"for {name} in loop({other}):", *block(in_loop=True), "else:", *block()]
    if kind == "while":
        return ["while True:", *block(in_loop=True), "    break"]
    if kind == "try":
        return [
            "try:", f"    use({name})", "    boom()", "except Boom as e:", *block(),
        ]  # fmt: skip
    if kind == "try all":
        return ["try:", f"    {name} = use({other})", "finally:", *block()]
    if kind == "with":
        return [f"with ctx() as {name}:", *block()]
    if kind == "match":
        body = [f"match use({name}):", f"    case {other} if flip():"]
        rest = textwrap.indent("\n".join(["case _:", *block()]), "    ").split("\n")
        return [*body, *textwrap.indent("\n".join(block()), "    ").split("\n"), *rest]
    if kind == "class":
        return ["class K:", *block(in_loop=False, local=True), "    def m(self): return use(z)"]
    at = draw(st.integers(0, len(functions) - 1))
    if kind == "lambda":
        return [f"{functions[at]} = lambda *_: {draw(_expression(functions[:at], local=True))}"]
    head = f"def {functions[at]}(*_):"
    told = [f"    global {name}"] if draw(st.booleans()) else []
    inner = block(in_loop=False, functions=functions[:at], local=True)
    return [head, *told, *_locals_of([head, *told, *inner]), *inner]


def _locals_of(lines):
    """Set a function's local names first, so that it never fails."""
    (code,) = (
        each for each in compile("\n".join(lines), "", "exec").co_consts if hasattr(each, "co_code")
    )
    mine = {*code.co_varnames, *code.co_cellvars} & {*DATA}
    return [f"    {name} = use()" for name in sorted(mine)]
