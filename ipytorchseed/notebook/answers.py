"""Answers questions that agents and ``ipytorchseed check`` send to the kernel.

A question is a ``user_expressions`` entry of an empty, silent request, so no cell runs, and the
user's history does not change. See ``questions``.
"""

from __future__ import annotations

import json
from typing import Any

from IPython.display import JSON

from ipytorchseed import questions
from ipytorchseed.errors import IPyTorchSeedError, LookupFailure
from ipytorchseed.notebook.extension import running
from ipytorchseed.notebook.lookup import own_run
from ipytorchseed.notebook.replay import find_plan
from ipytorchseed.notebook.state import State
from ipytorchseed.notebook.why_magic import explain_asked
from ipytorchseed.reads.seed_arguments import without_seed
from ipytorchseed.render.replay import PlanView
from ipytorchseed.why.evidence import run_word


def answer(text: str) -> JSON:
    """Return the answer to a question as JSON, which IPython sends to the caller.

    Args:
        text: The question as JSON, as ``questions.expression`` writes it.
    """
    try:
        state = running()
        if state is None:
            raise LookupFailure("no IPython runs here")
        return JSON(_answer(state, questions.decode(text)))
    except IPyTorchSeedError as error:
        return JSON({"error": str(error)})


def _answer(state: State, question: questions.Question) -> dict[str, Any]:
    names = state.shell.user_ns
    if isinstance(question, questions.Prepare):
        if question.seed is not None:
            state.apply(question.seed, "now")
        return {"ready": True}
    if isinstance(question, questions.Seeds):
        return {"calls": [[*without_seed(source, names)] for source in question.sources]}
    if isinstance(question, questions.Undo):
        return _call(state, "%replay --undo")
    session = state.session
    if isinstance(question, questions.Why):
        view = explain_asked(session, question, names)
        said = view.explanation
        told = {"text": view.to_json(session.identity.ident_of(said.run.cell))}
        if question.prove:  # without --yes, cells that would act outside the kernel are refused
            against = "" if said.against is None else f" --against #{said.against.id}"
            told = _call(state, f"%why #{said.run.id}{against} --prove --json")
        return json.loads(told["text"]) if "text" in told else told
    run = own_run(session, question.run)
    if isinstance(question, questions.Plan):
        return {"text": PlanView(find_plan(state, run), session.kernel).text()}
    return _call(state, f"%replay {run_word(run, session.kernel)}")


def _call(state: State, line: str) -> dict[str, Any]:
    done, said = state.call_magic(line)
    return {"text": said} if done else {"error": said}
