"""The actions of the inspector's buttons: each runs a magic, after a question where needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ipytorchseed.errors import LookupFailure
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.magic import as_word
from ipytorchseed.notebook.state import State
from ipytorchseed.render.inspection import Model
from ipytorchseed.render.replay import say_outside
from ipytorchseed.why.evidence import run_word

_RUNNING = "A cell is running: nothing was done. Try again when it has ended."

_LATE = "A cell has run since you asked: nothing was done. Look, and ask again."

_MARKS = ("✓ ", "▲ ")
"""The marks with which the text of a replay begins; the view adds its own."""

_LOST = (
    "Tracking is off, so nothing keeps where the sources stand now: there is no way back. {} all"
    " the same?"
)


def act(state: State, wish: Mapping[str, Any]) -> Model:
    """Run the action of a button, or refuse it, or ask the user first.

    Args:
        state: Of the extension in the shell.
        wish: ``what`` to do and with what; ``last``, the newest run that the view shows; ``sure``,
            whether the user has been asked.

    Returns:
        ``done`` with what the magic said, or ``confirm`` with a question.
    """
    session = state.tracking.session
    newest = session.last.id if session.last is not None else None
    try:
        line = _line(state, wish)
    except (LookupFailure, ValueError) as error:
        return {"say": "done", "ok": False, "text": f"{error}."}
    if state.at_work or (newest or 0) > int(wish.get("last") or 0):
        return {"say": "done", "ok": False, "text": _RUNNING if state.at_work else _LATE}
    question = "" if wish.get("sure") else _question(state, wish)
    if question:
        return {"say": "confirm", "question": question, "wish": {**wish, "sure": True}}
    ok, text = state.run_magic(line)
    after = session.last
    done = ok and after is not None and after.id != newest
    if text[:2] in _MARKS:  # those of a replay
        ok, text = text.startswith("✓"), text[2:]
    undo = _undo(str(wish.get("what")), after) if done and after is not None else None
    return {"say": "done", "ok": ok, "text": text, "line": line, "undo": undo}


def _undo(what: str, after: Run) -> Model | None:
    """Return the wish that undoes an action; None where nothing moved.

    Args:
        what: What was done.
        after: The run of its magic.
    """
    if what == "replay":
        return {"what": "undo-replay"}
    return None if what in ("save", "undo-replay") else {"what": "rewind", "run": after.id}


def _line(state: State, wish: Mapping[str, Any]) -> str:
    """Return the magic for a wish, as one would type it."""
    what = wish.get("what")
    if what == "rewind":
        return f"%seed rewind {_word(state, int(wish['run']))}"
    if what == "replay":
        return f"%replay {_word(state, int(wish['run']))}{' --yes' if wish.get('sure') else ''}"
    if what == "undo-replay":
        return "%replay --undo"
    if what == "reseed":
        seed = str(wish.get("seed", "")).strip()
        if not re.fullmatch(r"\d{1,20}", seed):
            raise LookupFailure("a seed is an integer from 0 to 4294967295")
        return f"%seed {seed}{' --generators' if wish.get('generators') else ''}"
    if what == "new":
        return "%seed new"
    if what in ("save", "restore"):
        return f"%seed {what} {as_word(str(wish.get('name', '')))}"
    raise LookupFailure(f"there is no button {what!r}")


def _word(state: State, number: int) -> str:
    return run_word(_run(state, number), state.tracking.session.kernel)


def _run(state: State, number: int) -> Run:
    run = state.tracking.session.ledger.run(number)
    if run is None:
        raise LookupFailure(f"the ledger no longer keeps run #{number}")
    return run


def _question(state: State, wish: Mapping[str, Any]) -> str:
    session = state.tracking.session
    name = str(wish.get("name", "")).strip()
    if wish.get("what") == "save":
        taken = name in session.ledger.saves(session.notebook)
        return f"Something is saved as {name!r}. Replace it?" if taken else ""
    if wish.get("what") == "replay" and state.options.tracking:
        plan = state.replays.plan(_run(state, int(wish["run"])))
        outside = say_outside(plan, session.kernel)
        return f"{outside}. Run that again?" if outside else ""
    if wish.get("what") in ("replay", "undo-replay"):
        return ""  # the magic says why not; what it does can be undone
    verb = {"rewind": "Rewind", "restore": "Restore"}.get(str(wish.get("what")), "Reseed")
    return "" if state.options.tracking else _LOST.format(verb)
