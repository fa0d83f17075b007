"""The inspector where no IPython runs: in marimo and in scripts, which tell of no runs."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from traitlets import Dict

from ipytorchseed.determinism.alerts import recent_alerts
from ipytorchseed.inspector.inspector import Inspector
from ipytorchseed.inspector.present import Present
from ipytorchseed.render.inspection import NO_TORCH, Model, now_model, settings_model, visible_model
from ipytorchseed.render.report import has_torch, report
from ipytorchseed.render.seeding import SeedStatus
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.table import recent_seeds


class Alone(Inspector):
    """Shows where sources and generators stand, settings, and the alerts of blocks that ended.

    What stood when it was made is part of its saved state, for pages that no process answers.

    Args:
        names: The namespace whose generators are shown.
    """

    told = Dict().tag(sync=True)

    def __init__(self, names: Mapping[str, Any]) -> None:
        state = random.getstate()
        try:
            super().__init__()
        finally:
            random.setstate(state)  # marimo draws from it the names of a widget's files
        self._names = names
        self._present = Present()
        self.answer = self._look
        self.told = visible_model(self._look({}))

    def _look(self, _: Mapping[str, Any]) -> Model:
        """Look at everything anew, whatever a view asks."""
        self._present.look(find_generators(self._names))
        seeds = recent_seeds()
        seeded = f"last seed: {seeds[0]}" if seeds else "no seed set yet"
        return {
            "say": "alone",
            "now": now_model(self._present.rows.values(), {}),
            "settings": settings_model(report() if has_torch() else None),
            "alerts": [[str(alert), alert.instead] for alert in dict.fromkeys(recent_alerts())],
            "rule": f"{seeded} · as of {time.strftime('%H:%M:%S')}",
        }

    def __repr__(self) -> str:
        status = SeedStatus.read(None, "", find_generators(self._names))
        return f"{status.text()}\n\n{report().headline if has_torch() else NO_TORCH}"
