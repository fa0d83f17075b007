"""Handles the messages of inspector views, and sends them new runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ipytorchseed.inspector.actions import act
from ipytorchseed.inspector.history import Filter, History
from ipytorchseed.inspector.inspector import Inspector
from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.notebook.lookup import TRACKING_OFF, find_run, run_named
from ipytorchseed.notebook.state import State
from ipytorchseed.render.inspection import Model, line_model, now_model, settings_model, why_model
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.report import report
from ipytorchseed.render.seeding import Present
from ipytorchseed.render.why import WhyView
from ipytorchseed.rng.table import recent_seeds
from ipytorchseed.rng.torch_random import has_torch
from ipytorchseed.session.asking import why
from ipytorchseed.why.evidence import run_phrase

# The number of rows that a view gets when it opens.
_FIRST = 60

# The maximum number of rows that a view gets in one answer.
_MOST = 400

# The only widget of this kernel. Unloading keeps it: a notebook saves the code of each widget.
_made: list[Inspector] = []


class MessageHandler:
    """The handler of questions from views, which also sends them new runs.

    Questions arrive between cells, or in another thread while a cell runs (ipykernel 7). While a
    cell runs, the answer has the records so far, and the states at the end of the last run.

    Args:
        state: The state of the extension in the shell.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._history = History(state.tracking.session)
        self._present = Present()
        self._by: dict[str, str] = {}
        self._opened = False
        self._lock = threading.RLock()
        self._widget = self._connect()
        self._questions: dict[str, Callable[[Mapping[str, Any]], Model]] = {
            "open": self._open,
            "now": self._now,
            "rows": self._lines,
            "find": self._find,
            "why": self._why,
            "cell": self._cell,
            "ready": lambda _: {"say": "ready"},
            "do": lambda wish: act(state, wish),
        }
        self._widget.say({"say": "back"})

    def shown(self) -> Inspector:
        """Return the widget; a new one if the user closed all widgets."""
        if self._widget.comm is None:
            self._widget = self._connect()
        return self._widget

    def _connect(self) -> Inspector:
        if not _made or _made[0].comm is None:
            _made[:] = [Inspector()]
        _made[0].answer = self.answer
        return _made[0]

    def close(self) -> None:
        """Report to views that the extension was unloaded."""
        self._widget.answer = None
        text = "ipytorchseed was unloaded: this is what it saw last."
        self._widget.say({"say": "gone", "text": text})

    def ran(self, run: Run | None) -> None:
        """Send the changes of a finished run to the views, if any view was opened."""
        if not self._opened:
            return
        if run is None or not run.id:
            self._widget.say({"say": "moved"})
            return
        history = self._here()
        line = history.add(run)
        if run.status == UNDONE:
            places = [place for place, each in enumerate(history.ids) if each == run.id]
            self._widget.say(self._lines({"places": places}))
            return
        row = {"place": len(history) - 1, "row": line_model(line), "columns": history.columns}
        self._widget.say({"say": "run", **row, "words": line.words})

    def answer(self, question: Mapping[str, Any]) -> Model | None:
        """Answer a question of a view; the view shows any error."""
        handler = self._questions.get(str(question.get("ask")))
        return None if handler is None else handler(question)

    def _here(self) -> History:
        """Return the history; a new one if the session now has a different ledger."""
        session = self._state.tracking.session
        with self._lock:
            if self._history.ledger is not session.ledger:
                self._history = History(session)
            return self._history

    def _open(self, question: Mapping[str, Any]) -> Model:
        self._opened = True
        history = self._here()
        history.catch_up()
        places = range(max(0, len(history) - _FIRST), len(history))
        return {**self._now(question), **self._lines({"places": [*places]}), "say": "all"}

    def _now(self, _: Mapping[str, Any]) -> Model:
        state = self._state
        session, history = state.tracking.session, self._here()
        with state.lock:
            if not state.threads:  # no cell runs
                self._present.look(state.generators())
        rows = self._present.rows
        now = {row.name: row.digest for row in rows if row.digest}
        self._by.update(history.moves(now))
        return {
            "say": "now",
            "now": now_model(rows, self._by),
            "columns": history.columns,
            "total": len(history),
            "rule": state.seeding.rule if state.options.tracking else TRACKING_OFF,
            "seed": next(iter(recent_seeds()), None),
            "saves": [*session.ledger.saves(session.notebook)],
            "running": bool(state.threads),
            "settings": settings_model(report() if has_torch() else None),
        }

    def _lines(self, question: Mapping[str, Any]) -> Model:
        history = self._here()
        places = [int(place) for place in question.get("places", [])[:_MOST]]
        lines = history.lines(sorted(places))
        return {
            "say": "rows",
            "columns": history.columns,
            "rows": [[place, line_model(line) if line else None] for place, line in lines.items()],
        }

    def _find(self, question: Mapping[str, Any]) -> Model:
        history = self._here()
        wanted = msgspec.convert(question, Filter)
        low = max(0, int(question.get("low", 0)))
        high = min(int(question.get("high", len(history))), len(history))
        places, reached = history.find(wanted, low, high)
        return {"say": "found", "round": question.get("round"), "places": places, "low": reached}

    def _why(self, question: Mapping[str, Any]) -> Model:
        session, name = self._state.tracking.session, str(question.get("name") or "")
        run, against = (session.ledger.run(int(question.get(it) or 0)) for it in ("run", "against"))
        run = run_named(session, name) if name else run
        if run is None:
            return {"say": "done", "ok": False, "text": "The ledger no longer keeps this run."}
        model = why_model(WhyView(why(session, run, against), session.kernel))
        return {"say": "why", "name": name, **model}

    def _cell(self, question: Mapping[str, Any]) -> Model:
        """Return the execution counts that the cell of a run may show now."""
        session = self._state.tracking.session
        run = find_run(session, str(question.get("number")))
        last = session.ledger.last_run(run.notebook, run.cell) or run
        numbers = [last.execution_count, run.execution_count]
        name = run_phrase(run, session.kernel)
        text = f"{name} is `{label_of(run.source)}`, which this notebook view does not contain."
        return {"say": "cell", "numbers": numbers, "text": text}
