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
    if state.threads or (newest or 0) > int(seen or 0):
        return {"say": "done", "ok": False, "text": _RUNNING if state.threads else _LATE}
    question = "" if wish.get("sure") else _question(state, wish)
    if question:
        return {"say": "confirm", "question": question, "wish": {**wish, "sure": True}}
    ok, text = state.call_magic(line)
    what, after, undo = wish.get("what"), session.last, None
    if ok and what == "prove":
        return {"say": "done", "ok": True, "text": "The causes are tested.", "refresh": True}
    if ok and after is not None and after.id != newest and what not in ("save", "undo-replay"):
        undo = {"what": "rewind", "run": after.id}
        if what == "replay":
            undo = {"what": "undo-replay"}
    if text[:2] in _MARKS:
        ok, text = text.startswith("✓"), text[2:]
    return {"say": "done", "ok": ok, "text": text, "line": line, "undo": undo}


def _line(state: State, wish: Mapping[str, Any]) -> str:
    """Return the line of a magic that performs a button's action.

    Raises:
        LookupFailure: There is no such button, or a value is invalid.
    """
    what, kernel = wish.get("what"), state.tracking.session.kernel
    if what in ("prove", "replay", "rewind"):
        word = run_word(_run(state, wish["run"]), kernel)
        if what == "prove":
            other = run_word(_run(state, wish["against"]), kernel)
            return f"%why {word} --against {other} --prove --json"
        if what == "rewind":
            return f"%seed rewind {word}"
        return f"%replay {word}{' --yes' if wish.get('sure') else ''}"
    if what == "reseed":
        typed = str(wish.get("seed", "")).strip()
        if not re.fullmatch(r"[0-9]{1,20}", typed) or int(typed) >= LIMIT:
            raise LookupFailure(f"a seed is an integer from 0 to {LIMIT - 1}")
        return f"%seed {typed}{' --generators' if wish.get('generators') else ''}"
    if what in ("save", "restore"):
        return f"%seed {what} {as_word(str(wish.get('name', '')))}"
    plain = {"undo-replay": "%replay --undo", "new": "%seed new"}
    if what not in plain:
        raise LookupFailure(f"there is no button {what!r}")
    return plain[what]


def _run(state: State, number: Any) -> Run:  # noqa: ANN401 -- JSON of a view
    run = state.tracking.session.ledger.run(int(number))
    if run is None:
        raise LookupFailure("the ledger no longer keeps this run")
    return run


def _question(state: State, wish: Mapping[str, Any]) -> str:
    session, what = state.tracking.session, wish.get("what")
    if what == "save":
        name = str(wish.get("name", "")).strip()
        taken = name in session.ledger.saves(session.notebook)
        return f"Something is saved as {name!r}. Replace it?" if taken else ""
    if what == "replay" and state.options.tracking:  # without tracking, %replay refuses
        outside = say_outside(state.part(Replays).plan(_run(state, wish["run"])), session.kernel)
        return f"{outside}. Run that again?" if outside else ""
    return ""
