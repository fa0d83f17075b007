"""Tags for MLflow: the applied seed, and the states at the start of a run.

MLflow finds this module through the entry point ``mlflow.run_context_provider``. The protocol:
https://mlflow.org/docs/latest/ml/plugins/
"""

from __future__ import annotations

import sys


class RunContext:
    """The provider that MLflow asks for tags when a run begins."""

    def in_context(self) -> bool:
        """Return whether this process has used ipytorchseed."""
        return "ipytorchseed.rng.table" in sys.modules

    def tags(self) -> dict[str, str]:
        """Return the tags: the last applied seed, and the digest of each source."""
        from ipytorchseed.rng.snapshot import snapshot
        from ipytorchseed.rng.table import recent_seeds

        told = {"ipytorchseed.states": str(snapshot())}
        if recent_seeds():
            told["ipytorchseed.seed"] = str(recent_seeds()[0])
        return told
