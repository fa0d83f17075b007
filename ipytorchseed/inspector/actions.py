"""The actions of the inspector's buttons: each runs one of our magics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ipytorchseed.errors import LookupFailure
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.magic import as_word
from ipytorchseed.notebook.replay import Replays
from ipytorchseed.notebook.state import State
from ipytorchseed.render.inspection import Model
from ipytorchseed.render.replay import say_outside
from ipytorchseed.rng.seeds import LIMIT
from ipytorchseed.why.evidence import run_word

_RUNNING = "A cell is running: nothing was done. Try again when it has ended."

_LATE = "A cell has run since you asked: nothing was done. Look, and ask again."

# Marks at the start of a replay's text, which are removed: the view adds its own.
_MARKS = ("✓ ", "▲ ")

_LOST = (
    "Tracking is off, so the current states are not saved and cannot be restored. {} all the same?"
)


def act(state: State, wish: Mapping[str, Any]) -> Model:
    """Run the action of a button, or refuse it, or ask the user first.

    Args:
        state: The state of the extension in the shell.
        wish: The request of the view: ``what``, the action, with its arguments; ``last``, the
            newest run that the view shows; ``sure``, whether the user has confirmed the action.

    Returns:
        ``done`` with the output of the magic, or ``confirm`` with a question.
    """
    session = state.tracking.session
    newest = session.last.id if session.last is not None else None
    try:
        line = _line(state, wish)
    except (LookupFailure, ValueError) as error:
        return {"say": "done", "ok": False, "text": f"{error}."}
    seen = wish.get("last", newest)  # a view of one answer shows no runs
    if state.at_work or (newest or 0) > int(seen or 0):
        return {"say": "done", "ok": False, "text": _RUNNING if state.at_work else _LATE}
    question = "" if wish.get("sure") else _question(state, wish)
    if question:
        return {"say": "confirm", "question": question, "wish": {**wish, "sure": True}}
    ok, text = state.call_magic(line)
    if ok and wish.get("what") == "prove":
        return {"say": "done", "ok": True, "text": "The causes are tested.", "refresh": True}
    after = session.last
    done = ok and after is not None and after.id != newest
    if text[:2] in _MARKS:
        ok, text = text.startswith("✓"), text[2:]
    undo = _undo(str(wish.get("what")), after) if done and after is not None else None
    return {"say": "done", "ok": ok, "text": text, "line": line, "undo": undo}


def _undo(what: str, after: Run) -> Model | None:
    """Return the request that undoes an action; None if it moved no state.

    Args:
        what: The action.
        after: The record of the magic that the action ran.
    """
    if what == "replay":
        return {"what": "undo-replay"}
    return None if what in ("save", "undo-replay") else {"what": "rewind", "run": after.id}


def _line(state: State, wish: Mapping[str, Any]) -> str:
    """Return the line of a magic that performs a button's action.

    Raises:
        LookupFailure: There is no such button, or a value is invalid.
    """
    what = wish.get("what")
    if what in ("prove", "replay", "rewind"):
        return _line_for_run(state, str(what), wish)
    if what == "undo-replay":
        return "%replay --undo"
    if what == "reseed":
        typed = str(wish.get("seed", "")).strip()
        if not re.fullmatch(r"[0-9]{1,20}", typed) or int(typed) >= LIMIT:
            raise LookupFailure(f"a seed is an integer from 0 to {LIMIT - 1}")
        return f"%seed {typed}{' --generators' if wish.get('generators') else ''}"
    if what == "new":
        return "%seed new"
    if what in ("save", "restore"):
        return f"%seed {what} {as_word(str(wish.get('name', '')))}"
    raise LookupFailure(f"there is no button {what!r}")


def _line_for_run(state: State, what: str, wish: Mapping[str, Any]) -> str:
    """Return the line of a magic that performs an action on a run."""
    kernel = state.tracking.session.kernel
    word = run_word(_run(state, int(wish["run"])), kernel)
    if what == "prove":
        other = run_word(_run(state, int(wish["against"])), kernel)
        return f"%why {word} --against {other} --prove --json"
    if what == "rewind":
        return f"%seed rewind {word}"
    return f"%replay {word}{' --yes' if wish.get('sure') else ''}"


def _run(state: State, number: int) -> Run:
    run = state.tracking.session.ledger.run(number)
    if run is None:
        raise LookupFailure("the ledger no longer keeps this run")
    return run


def _question(state: State, wish: Mapping[str, Any]) -> str:
    session = state.tracking.session
    name = str(wish.get("name", "")).strip()
    if wish.get("what") == "save":
        taken = name in session.ledger.saves(session.notebook)
        return f"Something is saved as {name!r}. Replace it?" if taken else ""
    if wish.get("what") == "replay" and state.options.tracking:
        plan = state.part(Replays).plan(_run(state, int(wish["run"])))
        outside = say_outside(plan, session.kernel)
        return f"{outside}. Run that again?" if outside else ""
    if wish.get("what") in ("replay", "undo-replay"):
        return ""  # without tracking the magic refuses; otherwise it can be undone
    verb = {"rewind": "Rewind", "restore": "Restore"}.get(str(wish.get("what")), "Reseed")
    return "" if state.options.tracking else _LOST.format(verb)
