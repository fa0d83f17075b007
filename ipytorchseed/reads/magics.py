"""Finds the code, files and programs that a call of an IPython magic runs."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.reads.shell import MAGICS, program_of, scripts_of

CELL_MAGICS = frozenset(
    {"time", "timeit", "capture", "prun", "deterministic", "seeds", "debug", "memit", "snakeviz"}
    | {"pyinstrument", "scalene", "heat", "lprun", "mprun"}
)
_LINE = frozenset({"time", "timeit", "prun", "debug", "memit", "snakeviz", "lprun", "mprun"})
_RUNS_LINE = frozenset({"!", "sc", "sx", "system"})
_SCRIPTS = frozenset(
    {"bash", "perl", "pypy", "python", "python2", "python3", "ruby", "script", "sh"}
)
_FORGETS = frozenset({"timeit", "memit", "seeds"})
_OPTIONS = lazy_pattern(r"\s*(?:--?[a-zA-Z][\w-]*(?:[ =]?(?:\d+|'[^']*'|\"[^\"]*\")|(?=\s|$))\s*)+")
_NAMED_OPTION = lazy_pattern(r"\s*-[fmTDs]\s+\S+\s*")
_BETWEEN_WORDS = lazy_pattern(r"[\s;|&<>()'\"=]+")
_EXPANDED = lazy_pattern(r"\{([^{}]+)\}|\$([a-zA-Z_]\w*)")

# Finds magics and shell commands in text that is not valid Python.
_MAGIC = lazy_pattern(
    r"^([ \t]*)(?:[%!?].*|[\w.,][\w., \t]*=[ \t]*[%!]\w.*|[\w.]+\?\??[ \t]*)$", re.MULTILINE
)

_HEAD = lazy_pattern(r"%%(\w+)")


def parse_without_magics(source: str) -> ast.Module:
    """Parse a cell's text without its magics, keeping line numbers."""
    tree = parse_text(source)
    if tree is None:
        head = _HEAD.match(source.lstrip())
        if head and head[1] not in CELL_MAGICS:
            return ast.Module([], [])
        source = source.replace("%%", "##", 1) if head else source
        tree = parse_text(_MAGIC.sub(r"\1pass", source))
    return tree or ast.Module([], [])


class Magic(Struct):
    """The effects of calling a magic or a shell command.

    Attributes:
        body: The Python code that is run, or "".
        cell: Whether ``body`` is the body of a cell magic, which may contain magics.
        forgets: Whether names that ``body`` sets are not set in the namespace.
        expressions: Python expressions in the line, in braces or after ``$``.
        writes: Names that the magic itself sets.
        files: Files that are run, in the notebook or as separate programs.
        program: A separate program that is run, as users write it, such as ``!wget``; or "".
        words: Words that are passed to a program. Some may be names of files.
        text: The line as users write it: ``%seed 42``, ``!ls``, or ``= !ls`` if the output is
            assigned to a name.
    """

    body: str = ""
    cell: bool = False
    forgets: bool = False
    expressions: list[str] = []
    writes: list[str] = []
    files: list[str] = []
    program: str = ""
    words: list[str] = []
    text: str = ""


def magic_of(node: ast.Call) -> Magic | None:
    """Return the effects of a call of ``get_ipython()``'s methods; None for others."""
    func = node.func
    if not (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Call)
        and isinstance(func.value.func, ast.Name)
        and func.value.func.id == "get_ipython"
    ):
        return None
    words = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
    texts = [word if isinstance(word, str) else "" for word in words] + ["", "", ""]
    if func.attr in ("system", "getoutput", "getoutputs"):
        kept = "" if func.attr == "system" else "= "
        made = Magic(expressions=_expanded(texts[0]), text=f"{kept}!{texts[0]}")
        return _run_program(made, f"!{program_of(texts[0])}", texts[0])
    if func.attr == "run_line_magic":
        return _line_magic(texts[0], texts[1])
    if func.attr == "run_cell_magic":
        return _cell_magic(texts[0], texts[1], texts[2])
    return None


def _line_magic(name: str, line: str) -> Magic:
    made = Magic(expressions=_expanded(line), text=f"%{name} {line}".strip())
    if name in _LINE:
        made.body = _without_options(line)
        made.forgets = name in _FORGETS
    elif name in ("run", "load"):
        made.files = [word for word in line.split() if not word.startswith("-")][:1]
    elif name in MAGICS:
        made.program = f"%{name}"
    elif name in _RUNS_LINE:
        _run_program(made, f"!{program_of(line)}", line)
    return made


def _cell_magic(name: str, line: str, body: str) -> Magic:
    made = Magic(expressions=_expanded(line), text=f"%%{name} {line}".strip())
    if name in CELL_MAGICS:
        made.body, made.cell = body, True
        made.forgets = name in _FORGETS
        setup = _without_options(line)
        if name == "timeit" and setup:
            made.body = f"{setup}\n{body}"
        if name == "capture":
            made.writes = [word for word in line.split() if word.isidentifier()][:1]
    elif name in _SCRIPTS:
        _run_program(made, f"%%{name}", body)
    elif name in _RUNS_LINE:
        _run_program(made, f"!{program_of(body)}", body)
    return made


def _run_program(made: Magic, program: str, text: str) -> Magic:
    """Record that a magic runs a program with a command line or script ``text``."""
    made.program, made.files = program, scripts_of(text.split())
    made.words = _BETWEEN_WORDS.split(text)
    return made


def _without_options(line: str) -> str:
    while found := _NAMED_OPTION.match(line) or _OPTIONS.match(line):
        line = line[found.end() :]
    return line.strip()


def _expanded(line: str) -> list[str]:
    return [braced or name for braced, name in _EXPANDED.findall(line)]
