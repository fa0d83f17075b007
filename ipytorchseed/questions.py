"""Typed questions to a kernel, each sent as a JSON literal in a fixed expression.

A question is never part of a magic's line or a shell command, so its text cannot add an option,
expand a variable or start a second statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipytorchseed.errors import LookupFailure, quoted
from ipytorchseed.patterns import lazy_pattern

# ``9`` for ``In[9]``, ``#17`` for the ledger's run 17.
RunWord = Annotated[str, Meta(pattern=r"\A#?[0-9]{1,15}\Z")]

# The name of a run. ``In[9]`` matches group 1; ``9`` and ``#17`` match group 2.
RUN = lazy_pattern(r"(?:In\[([0-9]{1,15})\]|(#?[0-9]{1,15}))\Z")
# Cell ids of notebook files (nbformat 4.5) that do not begin with a dash.
_CELL = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")

# The maximum number of characters in a variable's name.
_MOST = 200


class Why(Struct, frozen=True, tag=True, omit_defaults=True):
    """The question why a cell gave a different result.

    Only records are read, unless ``prove`` is set.

    Attributes:
        run: The run; None to use ``name``.
        name: A variable or a cell's id; empty for the last cell that ran again.
        against: The run to compare with; None for the run before.
        prove: Run the cell again on copies, to test its causes. Cells that act outside the kernel
            are refused.
    """

    run: RunWord | None = None
    name: str = ""
    against: RunWord | None = None
    prove: bool = False


class Plan(Struct, frozen=True, tag=True):
    """The question which cells a replay would run."""

    run: RunWord


class Replay(Struct, frozen=True, tag=True):
    """Replay a run. Cells that act outside the kernel are refused."""

    run: RunWord


class Undo(Struct, frozen=True, tag=True):
    """Undo the last replay."""


class Prepare(Struct, frozen=True, tag=True):
    """The question whether the extension is loaded; it can also seed."""

    seed: int | None = None


class Seeds(Struct, frozen=True, tag=True):
    """The question which calls in cells accept a seed and do not set it."""

    sources: tuple[str, ...]


Question = Why | Plan | Replay | Undo | Prepare | Seeds


def expression(question: Question) -> str:
    """Return the Python expression that makes a kernel answer a question."""
    text = msgspec.json.encode(question).decode()
    return f"__import__('ipytorchseed.notebook.answers', fromlist=['answer']).answer({text!r})"


def answer_in(reply: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the answer in a kernel's reply to the expression; None if there is none."""
    told = (reply or {}).get("content", {}).get("user_expressions", {}).get("answer", {})
    answer: dict[str, Any] | None = told.get("data", {}).get("application/json")
    return answer


def decode(text: str) -> Question:
    """Parse a question.

    Raises:
        msgspec.ValidationError: It is not a question, or a value in it has a different type.
    """
    question: Question = msgspec.json.decode(text, type=Question)
    return question


def run_word(text: str) -> RunWord:
    """Parse the name of a run: ``9``, ``In[9]`` or ``#17``.

    Raises:
        LookupFailure: The text does not name a run.
    """
    found = RUN.match(text.strip())
    if found is None:
        raise LookupFailure(f"{quoted(text)} names no run: give 9 for In[9], or #17")
    return found[1] or found[2]


def why(what: str, against: str, *, prove: bool = False) -> Why:
    """Return the question about a run, a variable or a cell.

    Args:
        what: ``9``, ``In[9]``, ``#17``, a variable or a cell's id; empty for the last re-run.
        against: ``5``, ``In[5]`` or ``#17``; empty for the run before.
        prove: Whether to test causes by running the cell again on copies.

    Raises:
        LookupFailure: ``what`` or ``against`` has none of these forms.
    """
    what, earlier = what.strip(), run_word(against) if against.strip() else None
    if RUN.match(what):
        return Why(run=run_word(what), against=earlier, prove=prove)
    is_name = len(what) <= _MOST and what.isidentifier()
    if what and not (is_name or _CELL.match(what)):
        raise LookupFailure(
            f"{quoted(what)} names nothing: give 9 for In[9], #17, a variable or a cell's id"
        )
    return Why(name=what, against=earlier, prove=prove)
