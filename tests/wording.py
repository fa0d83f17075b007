"""Checks the wording of docstrings, comments, messages and pages: plain English.

    python -m tests.wording [--all] [FOLDER...]

``wording.txt`` lists what is rejected, what to write instead, and the folders that still have
findings. Prints each place, then the rate in 1,000 words for each folder, and exits with 1 if
anything was found. ``--all`` includes those folders.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".txt")
WIDTH = 80  # characters in the first line of a docstring
PLAIN = {".md", ".rst", ".toml", ".yaml", ".yml", ".js", ".css", ".html", ".cff", ""}
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Rule(NamedTuple):
    """One rejected wording."""

    where: str  # anywhere, code or docstring
    pattern: re.Pattern[str]
    instead: str


class Prose(NamedTuple):
    """A text that a person reads."""

    line: int
    kind: str  # docstring, comment, message or page
    text: str


class Finding(NamedTuple):
    """A rejected wording at a place."""

    path: Path
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        """Return one line: the place, the words, what to write."""
        return f"{self.path}:{self.line}: “{self.words}”: write {self.instead}"


class Rules(NamedTuple):
    """The content of the list."""

    wordings: list[Rule]
    allowed: dict[str, list[str]]  # "wording" and "width": folders that still have findings

    def allows(self, what: str, path: Path) -> bool:
        """Return whether a file may still have findings of a kind."""
        return any(path.is_relative_to(folder) for folder in self.allowed[what])


def read_rules(text: str) -> Rules:
    """Return the rules that a list holds."""
    rules = Rules([], {"wording": [], "width": []})
    where = ""
    for line in text.splitlines():
        if line.startswith("["):
            where = re.split(r"[]:]", line[1:])[0]
        elif not line or line.startswith("#"):
            continue
        elif where.startswith("allowed "):
            rules.allowed[where.removeprefix("allowed ")].append(line)
        else:
            pattern, instead = line.split(" => ")
            start = r"\A\s*" if where == "docstring" else ""
            pattern = start + pattern.strip().replace(" ", r"\s+")
            rules.wordings.append(Rule(where, re.compile(pattern, re.IGNORECASE), instead))
    return rules


def prose_of_code(text: str) -> list[Prose]:
    """Return the docstrings, comments and messages of a Python file, in no order."""
    found = []
    docstrings = set()
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except SyntaxError:  # a scenario, whose cells hold magics
        head = re.match(r'\s*"""(.*?)"""', text, re.DOTALL)
        return [Prose(1, "docstring", head[1])] if head else []
    for node in nodes:
        for index, each in enumerate(getattr(node, "body", None) or [] if is_block(node) else []):
            if isinstance(each, ast.Expr) and is_text(each.value):
                docstrings.add(each.value)
                first = index == 0 and isinstance(node, DEFINITIONS)
                kind = "docstring" if first else "comment"
                found.append(Prose(each.lineno, kind, each.value.value))
    found += [
        Prose(node.lineno, "message", node.value)
        for node in nodes
        if is_text(node) and node not in docstrings and " " in node.value
    ]
    comments = [
        (each.start[0], each.string)
        for each in tokenize.generate_tokens(io.StringIO(text).readline)
        if each.type == tokenize.COMMENT
    ]
    numbered = enumerate(comments)
    for _, block in groupby(numbered, lambda each: each[1][0] - each[0]):  # adjacent lines
        lines = [comment for _, comment in block]
        joined = "\n".join(comment.lstrip("# ") for _, comment in lines)
        found.append(Prose(lines[0][0], "comment", joined))
    return found


def is_block(node: ast.AST) -> bool:
    """Return whether a node holds statements, not one expression as a lambda does."""
    return isinstance(getattr(node, "body", None), list)


def is_text(node: ast.AST) -> bool:
    """Return whether a node is a string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def prose_of(path: Path) -> list[Prose]:
    """Return what a person reads in a file."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return prose_of_code(text)
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        pages = ["".join(each["source"]) for each in cells if each["cell_type"] == "markdown"]
        places = [text.find(json.dumps(page.partition("\n")[0])[1:-1]) for page in pages]
        return [
            Prose(text.count("\n", 0, place) + 1, "page", page)
            for place, page in zip(places, pages, strict=True)
        ]
    return [Prose(1, "page", text)]


def findings_in(path: Path, prose: list[Prose], rules: Rules) -> list[Finding]:
    """Return the wordings that the rules reject in the prose of a file."""
    found = []
    for line, kind, text in [] if rules.allows("wording", path) else prose:
        kinds = {"anywhere", kind, "message" if kind in {"page", "message"} else "code"}
        for where, pattern, instead in rules.wordings:
            for match in pattern.finditer(text) if where in kinds else ():
                place = line + text.count("\n", 0, match.start())
                found.append(Finding(path, place, " ".join(match[0].split()), instead))
    return found


def long_lines_in(path: Path, prose: list[Prose], rules: Rules) -> list[Finding]:
    """Return the docstrings in the prose of a file whose first line is too long."""
    found = []
    for line, kind, text in [] if rules.allows("width", path) else prose:
        first = text.strip().partition("\n")[0]
        if kind == "docstring" and len(first) > WIDTH:
            found.append(Finding(path, line, first[:40] + " …", f"at most {WIDTH} characters"))
    return found


def files(folders: list[str]) -> list[Path]:
    """Return the files for people that git knows or would add, below folders or all."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = map(Path, sorted(set(listed.splitlines())))
    read = {".py", ".ipynb"} | PLAIN
    skipped = {"recorded", "LICENSE", "GENERATION", "py.typed"}
    return [
        each
        for each in paths
        if each.suffix in read and not skipped & set(each.parts) and (ROOT / each).is_file()
    ]


def main() -> int:
    """Print what is rejected, below the named folders or anywhere."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", help="all if none is named")
    parser.add_argument("--all", action="store_true", help="also where findings are still allowed")
    asked = parser.parse_args()
    rules = read_rules(LIST.read_text("utf-8"))
    if asked.all:
        rules = rules._replace(allowed={"wording": [], "width": []})
    counts: Counter[str] = Counter()
    words: Counter[str] = Counter()
    long = 0
    for path in files(asked.folders):
        prose = prose_of(ROOT / path)
        found = findings_in(path, prose, rules)
        wide = long_lines_in(path, prose, rules)
        folder = "/".join(path.parts[:-1][:2]) or "."
        counts[folder] += len(found)
        words[folder] += sum(len(each.text.split()) for each in prose)
        long += len(wide)
        sys.stdout.writelines(f"{each}\n" for each in (*found, *wide))
    for folder, count in counts.most_common():
        if count:
            rate = 1000 * count / words[folder]
            sys.stdout.write(f"{count:6} {rate:6.2f} in 1,000 words  {folder}\n")
    total = counts.total()
    rate = 1000 * total / max(1, words.total())
    sys.stdout.write(f"{total} wordings, {rate:.2f} in 1,000 words; {long} first lines too long\n")
    return int(total + long > 0)


if __name__ == "__main__":
    sys.exit(main())
