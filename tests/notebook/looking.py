"""Reads what the extension may change in a shell, without changing it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ipytorchseed.determinism.table import read_flags
from ipytorchseed.rng.snapshot import snapshot

if TYPE_CHECKING:
    from tests.kernel import Kernel

OURS = ("seed", "deterministic")


def shell_now(shell: Any) -> dict[str, object]:
    """Return events, magics, hooks, filters and flags of a shell, as texts by name."""
    magics = shell.magics_manager.magics
    return {
        **{name: repr(value) for name, value in read_flags().items()},
        "events": repr(shell.events.callbacks),
        "transformers": repr(shell.input_transformers_cleanup),
        "token transformers": repr(shell.input_transformer_manager.token_transformers),
        "names of magics": [*sorted(magics["line"]), *sorted(magics["cell"])],
        "magics of our names": [repr(magics[kind].get(n)) for kind in magics for n in OURS],
        "matchers": repr(shell.Completer.custom_matchers),
        "completer hooks": sorted(shell.strdispatchers["complete_command"].strs),
        "showtraceback": repr(vars(shell).get("showtraceback")),
        "showwarning": repr(warnings.showwarning),
        "warnings filters": repr(warnings.filters),
    }


def sources_now() -> dict[str, str]:
    """Return the digest of every source."""
    return snapshot().digests


_HERE = f"__import__({__name__!r}, fromlist=['x'])"


def look(kernel: Kernel) -> dict[str, object]:
    """Return ``shell_now`` of a kernel's shell, between its cells."""
    return kernel.value(f"{_HERE}.shell_now(get_ipython())")


def digests(kernel: Kernel) -> dict[str, str]:
    """Return the digest of every source of a kernel, between its cells."""
    return kernel.value(f"{_HERE}.sources_now()")
