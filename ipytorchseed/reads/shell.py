"""Analyzes shell commands in a cell, such as ``!ls`` and ``%pip install``.

What a command does is not recorded. Its output may be a result of the cell, except if it only
downloads or installs: such output reports progress, caches and seconds. The output of magics that
write the cell to a file is not a result either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.parsing import parse_text

# Programs that download or install, each with the arguments that make it do so. Programs listed
# without arguments never print a result. For example, ``nvidia-smi`` prints the current state of
# the machine.
_FETCHES = {
    program: frozenset(arguments.split())
    for programs, arguments in (
        ("aria2c gdown nvidia-smi wget", ""),
        ("apk apt apt-get brew dnf yum", "add install update upgrade"),
        ("conda mamba micromamba", "create install update"),
        ("curl", "-LO -O -OL -o --output --remote-name"),
        ("git", "clone fetch lfs pull submodule"),
        ("hf huggingface-cli", "download"),
        ("kaggle", "competitions datasets"),
        ("npm", "ci i install"),
        ("pip pip3", "download install uninstall"),
        ("uv", "add sync"),
    )
    for program in programs.split()
}

# Programs that often precede or follow a download, and also print no results.
_SILENT = frozenset(
    {"", "cd", "chmod", "cp", "echo", "export", "gunzip", "ln", "mkdir", "mv", "rm", "set", "tar"}
    | {"touch", "true", "unzip"}
)

# Programs that are also line magics. With automagic, they also work without ``%``.
MAGICS = ("conda", "mamba", "micromamba", "pip", "uv")

# Matches magics that print nothing that depends on the cell.
_QUIET = lazy_pattern(
    r"%%time\s*|%%capture\b.*|%(?:alias|autoreload|cd|config|load_ext|matplotlib|reload_ext)\b.*"
)

# Matches a line that runs a program.
_COMMAND = lazy_pattern(rf"!(?!!)(.*)|%?((?:{'|'.join(MAGICS)})\s+[a-z].*)")

_MAY_FETCH = re.compile(rf"^[^\S\n]*(?:[!%]|{'|'.join(MAGICS)})", re.MULTILINE).search

# Magics that write the cell to a file, and print whether the file existed.
_WRITES = frozenset({"%%file", "%%writefile"})

_SHELLS = frozenset({"%%bash", "%%sh"})
_SCRIPTS = (".bash", ".jl", ".js", ".lua", ".pl", ".py", ".r", ".R", ".rb", ".sh")
_PARTS = lazy_pattern(r"&&|\|\||;")
_PIPED = lazy_pattern(r"&&|\|+|[;<>\n]")

# Programs that list the contents of folders.
_LISTS = frozenset({"dir", "du", "find", "ls", "tree"})
_TO_OUTPUT = lazy_pattern(r"(?:^|\s)(?:-\w*O\s*-(?=\s|$)|--output-document[= ]-(?=\s|$))")
_PYTHON = lazy_pattern(r"python[\d.]*|\{.*executable\}|\$\w*python\w*")
_SETS_VARIABLE = lazy_pattern(r"\w+=\S*")


def program_of(command: str) -> str:
    """Return the first program of a shell command that is not in ``_SILENT``.

    If there is no such program, return the first one.

    Args:
        command: The command, without ``!``.
    """
    names = [_words(part)[0] for part in _PARTS.split(command)]
    return next((name for name in names if name not in _SILENT), names[0])


def scripts_of(words: Sequence[str]) -> list[str]:
    """Return the scripts that a command runs, and the folders that it lists.

    Scripts are recognized by suffix, and by ``-m name``. Folders end with a slash.

    Args:
        words: The words of one or several commands.
    """
    modules = [f"{late.replace('.', '/')}.py" for word, late in pairwise(words) if word == "-m"]
    named = [word.strip("'\"") for word in words]
    here = takewhile(lambda part: _words(part)[0] != "cd", _PIPED.split(" ".join(words)))
    listed = [f"{each}/" for part in here for each in _listed(part)]
    return [*(word for word in named if word.endswith(_SCRIPTS)), *modules, *listed]


def _listed(command: str) -> list[str]:
    """Return the folders that a command lists, including folders in glob patterns."""
    name, *words = _words(command)
    given = [word.strip("'\"") for word in words if word[:1] != "-"]
    bare = [word for word in words if "*" in word and word[:1] not in {"'", '"'}]
    globs = [word.rpartition("/")[0] or "." for word in bare]
    return [*globs, *((given or ["."]) if name in _LISTS else [])]


def may_print_result(command: str) -> bool:
    """Return whether the output of a command may be a result of the cell.

    Args:
        command: The command, without ``!``.
    """
    names = [_words(part)[0] for part in _PARTS.split(command)]
    return not (_fetch([command]) or (_SILENT.issuperset(names) and "echo" not in names))


def prints_no_result(source: str) -> bool:
    """Return whether a cell only downloads, installs or writes itself to a file.

    Imports and magics that configure IPython are ignored.

    Args:
        source: The cell's text.
    """
    if is_too_long(source) or not _MAY_FETCH(source):
        return False
    lines = [line.strip() for line in source.replace("\\\n", " ").splitlines()]
    lines = [line for line in lines if line and line[0] != "#"]
    if lines and lines[0].startswith("%%deterministic"):
        del lines[0]
    if lines and lines[0].split()[0] in _WRITES:
        return True
    if lines and lines[0].split()[0] in _SHELLS:
        return _fetch(lines[1:])
    found = [_COMMAND.fullmatch(line) for line in lines]
    python = [
        line
        for line, command in zip(lines, found, strict=True)
        if command is None and not _QUIET.fullmatch(line)
    ]
    commands = [each[each.lastindex or 1] for each in found if each]
    return _fetch(commands) and _only_imports(python)


def _fetch(commands: list[str]) -> bool:
    """Return whether commands only download or install."""
    if any("|" in each.replace("||", "") or _TO_OUTPUT.search(each) for each in commands):
        return False  # the download itself is shown
    parts = [_words(part) for each in commands for part in _PARTS.split(each)]
    programs = [words for words in parts if words[0] not in _SILENT]
    return bool(programs) and all(
        verbs is not None and not (verbs and verbs.isdisjoint(words))
        for words in programs
        for verbs in (_FETCHES.get(words[0]),)
    )


def _words(command: str) -> list[str]:
    """Split a command into words, starting with the program's name without its folder."""
    words = command.split()
    while words and (words[0] == "sudo" or _SETS_VARIABLE.fullmatch(words[0])):
        words = words[1:]
    if len(words) > 2 and words[1] == "-m" and _PYTHON.fullmatch(words[0].rpartition("/")[2]):  # noqa: PLR2004
        words = words[2:]
    words = words[1:] if words[:2] == ["uv", "pip"] else words
    return [words[0].rpartition("/")[2], *words[1:]] if words else [""]


def _only_imports(lines: list[str]) -> bool:
    tree = parse_text("\n".join(lines))
    return tree is not None and all(
        isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body
    )
