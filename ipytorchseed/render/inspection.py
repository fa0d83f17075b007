"""The inspector's model: plain JSON values, which the browser draws."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from zlib import crc32

from ipytorchseed.receipts.privacy import each_text
from ipytorchseed.render.curves import BOX, draw_curves
from ipytorchseed.render.links import cause_page
from ipytorchseed.render.report import Report
from ipytorchseed.render.seeding import Row
from ipytorchseed.render.text import visible
from ipytorchseed.render.timeline import Line
from ipytorchseed.render.values import code, hue, pick
from ipytorchseed.render.why import KEEP, WhyView, say_path
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.experiments import MAY_MATTER
from ipytorchseed.why.explanation import Cause, Root

# Texts, numbers, booleans and None, and lists and dicts of these.
Model = dict[str, Any]

NO_TORCH = "torch is not imported yet. Its settings are shown after the import."


def visible_model(model: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a model with every text escaped for display; equal texts stay equal."""
    return each_text(model, partial(visible, lines=True))


def chip_model(digest: str | None) -> list[object] | None:
    """Return a state as code, hue and full digest; None for an unknown state."""
    return None if digest is None else [code(digest), hue(digest), digest]


def now_model(rows: Iterable[Row], moves: Mapping[str, str]) -> list[Model]:
    """Return the current state of every source and generator.

    Args:
        rows: The rows of sources, then of generators.
        moves: The run that last moved each source or generator, where known.
    """
    return [
        {
            **pick(row, "name", "type"),
            "where": str(row.position),
            "chip": chip_model(row.digest),
            "by": moves.get(row.name, ""),
        }
        for row in rows
    ]


def settings_model(report: Report | None) -> Model:
    """Return the settings as JSON values; settings to change come first.

    Args:
        report: The determinism report; None if torch is not imported.
    """
    if report is None:
        return {"ok": True, "verdict": NO_TORCH, "brief": NO_TORCH, "right": "", "risks": [],
                "groups": []}  # fmt: skip
    risks = [risk for risk, _, _ in report.risks]
    more = f", and {len(risks) - 1} more" if len(risks) > 1 else ""
    right = sum(judged.ok for judged in report.assessment.flags)
    return {
        "ok": report.assessment.repeats,
        "verdict": report.verdict,
        "brief": f"{report.verdict} {risks[0]}{more}" if risks else report.verdict,
        "right": f"{right} settings as they should be" if report.risks else "",
        "risks": [*map(list, report.risks)],
        "groups": [{"title": title, "rows": rows} for title, rows in report.groups],
    }


def line_model(line: Line) -> Model:
    """Return a run as JSON values; sources that did not change are left out."""
    fields: dict[str, Model] = {}
    for name in line.after.keys() | line.before.keys():
        field, between = line.field(name), name in line.between
        if field.moved or between or field.other:
            after = chip_model(field.after) if field.moved else None
            moved = {"from": chip_model(field.before), "to": after}
            fields[name] = {**moved, "other": field.other, "between": between}
    model: Model = {
        **pick(line, "id", "name", "rail", "took", "status", "value"),
        "cell": line.label,
        "kin": crc32(line.cell.encode("utf-8", "surrogatepass")),
        "at": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.started)),
        "fields": fields,
    }
    if line.aside:
        model["aside"] = True
    if line.outcome is not None:
        model["outcome"] = [line.outcome.same, line.outcome.text, line.outcome.words]
    return model


def _cause_model(view: WhyView, cause: Cause) -> Model:
    runs = (view.explanation.against, view.explanation.run) if cause.kind == "rng" else ()
    return {
        **pick(cause, "kind", "name", "message", "proof"),
        "page": cause_page(cause.kind, cause.name),
        "finding": view.finding(cause),
        "chips": [chip_model(run.before.get(cause.name) if run else None) for run in runs],
    }


def why_model(view: WhyView) -> Model:
    """Return an explanation as JSON values."""
    said, against = view.explanation, view.explanation.against
    # The variables in the answer that other cells set: each can be asked about.
    asks = {each.name for each in said.causes if each.kind == "input"}
    asks.update(*(root.path for root in said.roots))
    return {
        "run": said.run.id,
        "against": against and against.id,
        "names": [run_name(run, view.kernel) if run else "" for run in (against, said.run)],
        "title": view.title,
        "answer": [
            {"message": each.message, "path": say_path([f"`{name}`" for name in each.path])}
            if isinstance(each, Root)
            else _cause_model(view, each)
            for each in (*view.answer, *view.folded)
        ],
        "prove": not said.tested
        and any(cause.finding.level == MAY_MATTER for cause in said.causes),
        "asks": sorted(asks),
        "keep": [KEEP, *view.keep] if view.keep else [],
        "reason": view.one_reason,
        "back": view.way_back,
        "mend": [*said.remedy.commands],
        "next": view.next_step,
        "changed": [*map(list, view.shown)],
        "more": view.more,
        "curves": [
            {"name": name, "box": [*BOX], "paths": draw_curves(*pair)} for name, pair in view.series
        ],
        "cleared": [*map(list, view.cleared)],
    }
