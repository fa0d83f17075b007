"""``%%deterministic`` as an input transformer: its line becomes one line of Python.

A cell magic that runs its body through the shell breaks top-level ``await``, swallows errors, and
counts lines from the body's first. So the magic's line is replaced by a call that begins the
scope, the body stays as it is, and the scope ends with the run. The transformer is pure: IPython
calls it about twice a cell.
"""

from __future__ import annotations

import io
import re
import tokenize

from IPython.core.inputtransformer2 import classic_prompt, ipython_prompt, leading_indent

_HEAD = re.compile(r"%%deterministic(?![\w?])[ \t]*(?P<arguments>.*?)[ \t]*\r?\n?\Z")
_MAGIC = re.compile(r"%%(?P<name>\S+)[ \t]*(?P<line>.*?)[ \t]*\r?\n?\Z")


def deterministic_head(line: str) -> re.Match[str] | None:
    """Tell whether a line is ``%%deterministic ...``, and match its ``arguments``."""
    return _HEAD.match(line)


def deterministic_cells(lines: list[str]) -> list[str]:
    """Replace a first line ``%%deterministic ...`` by the call that begins the scope.

    Args:
        lines: The cell, each line with its newline.

    Returns:
        The cell with as many lines, but for another cell magic below: it takes the rest into
        the same call.
    """
    if not lines or not lines[0].startswith("%%"):  # most cells: told without a pattern
        return lines
    head = deterministic_head(lines[0])
    if head is None:
        return lines
    begin = f"get_ipython().run_cell_magic('deterministic', {head['arguments']!r}, None)"
    body = lines[1:]
    for clean in (leading_indent, classic_prompt, ipython_prompt):
        body = clean(body) if body else body  # type: ignore[no-untyped-call]
    first = next((index for index, line in enumerate(body) if line.strip()), 0)
    magic = _MAGIC.match(body[first]) if body else None
    if magic is not None:
        rest = "".join(body[first + 1 :])
        call = f"get_ipython().run_cell_magic({magic['name']!r}, {magic['line']!r}, {rest!r})"
        return [f"{begin}; {call}\n"]
    place = _after_future_imports(body)
    if place is None:
        return [f"{begin}\n", *body]
    row, column = place
    line = body[row]
    body[row] = f"{line[:column]}; {begin}{line[column:]}"
    return ["\n", *body]


# A terminal asks the transformers whether a cell is complete. Passed over there, this one leaves
# `%%` to be seen, after which IPython waits for the body.
deterministic_cells.has_side_effects = True  # type: ignore[attr-defined]


def _after_future_imports(body: list[str]) -> tuple[int, int] | None:
    """Find where the last ``from __future__ import`` ends, since nothing may stand before it."""
    found = None
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(body)).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING):
                continue
            ends = token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) or token.string == ";"
            if not ends:
                statement.append(token)
                continue
            words = [part.string for part in statement[:2]]
            if words == ["from", "__future__"]:
                found = (statement[-1].end[0] - 1, statement[-1].end[1])
            elif not (len(statement) == 1 and statement[0].type == tokenize.STRING):
                break
            statement = []
    except (tokenize.TokenError, SyntaxError):  # not Python below, or not yet whole
        pass
    return found
