"""Rewrites ``%%deterministic 42`` into a call that begins its scope.

A cell magic that runs its body through the shell breaks top-level ``await``, hides errors, and
counts lines from the first line of the body. So the line of ``%%deterministic`` is replaced by a
call that begins the scope, the body stays as it is, and the scope ends with the run. The
transformer is pure: IPython calls it about twice per cell.
"""

from __future__ import annotations

from IPython.core.inputtransformer2 import classic_prompt, ipython_prompt, leading_indent

from ipytorchseed.patterns import lazy_pattern

# Matches a line ``%%deterministic ...``, with the group ``arguments``.
HEAD = lazy_pattern(r"%%deterministic(?![\w?])(?P<arguments>.*)\n?\Z")
_MAGIC = lazy_pattern(r"%%(?P<name>\S+)(?P<line>.*)\n?\Z")

# Matches ``__future__`` imports, one on each line, with the comments and blank lines above them.
_FUTURE = lazy_pattern(
    r"(?:(?:[ \t]*(?:#.*)?\n)*from __future__ import [\w, \t]*\w(?=[ \t]*(?:[;#\n]|\Z)))+"
)

_BLANK = " \t\r"


def deterministic_cells(lines: list[str]) -> list[str]:
    """Replace a first line ``%%deterministic`` with the call that begins the scope.

    Args:
        lines: The cell, each line with its newline.

    Returns:
        The cell with the same number of lines. If another cell magic follows, both become one line.
    """
    if not lines or not lines[0].startswith("%%"):  # fast path for most cells
        return lines
    head = HEAD.match(lines[0])
    if head is None:
        return lines
    body = lines[1:]
    handed = None if any(map(str.strip, body)) else "\n"  # for "", IPython advises a line magic
    arguments = head["arguments"].strip(_BLANK)
    begin = f"get_ipython().run_cell_magic('deterministic', {arguments!r}, {handed!r})"
    for clean in (leading_indent, classic_prompt, ipython_prompt):
        body = clean(body) if body else body  # type: ignore[no-untyped-call]
    first = next((index for index, line in enumerate(body) if line.strip()), 0)
    magic = _MAGIC.match(body[first]) if body else None
    if magic is not None:
        rest = "".join(body[first + 1 :])
        line = magic["line"].strip(_BLANK)
        call = f"get_ipython().run_cell_magic({magic['name']!r}, {line!r}, {rest!r})"
        return [f"{begin}; {call}\n"]
    text = "".join(body)
    future = _FUTURE.match(text)
    if future is None:
        return [f"{begin}\n", *body]
    return ["\n", *f"{future[0]}; {begin}{text[future.end() :]}".splitlines(keepends=True)]


# A terminal asks the transformers whether a cell is complete, and skips those with side effects. So
# it sees the `%%` and waits for the body.
deterministic_cells.has_side_effects = True  # type: ignore[attr-defined]
