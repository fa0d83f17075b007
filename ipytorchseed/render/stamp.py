"""``%seed stamp``: what a result hangs on, in one line for a paper or a log."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ipytorchseed.render.text import visible
from ipytorchseed.render.values import write_value
from ipytorchseed.rng.snapshot import snapshot
from ipytorchseed.rng.table import recent_seeds
from ipytorchseed.session.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SETTINGS = (
    "torch.use_deterministic_algorithms",
    "torch.float32_matmul_precision",
    "torch.default_dtype",
    "torch.num_threads",
    "PYTHONHASHSEED",
)
_ON_GPU = ("torch.backends.cudnn.benchmark", "torch.backends.cudnn.allow_tf32")
_VERSIONS = ("torch", "numpy", "python")


def stamp() -> str:
    """Return one line for a paper or a log: seed, states, settings, versions, hardware.

    Nothing is drawn, started or imported.

    Returns:
        The seed last applied, the digest of every source, settings that matter, versions of the
        libraries, and the processors; parts are set apart by semicolons.
    """
    last = next(iter(recent_seeds()), None)
    return stamp_text("no common seed" if last is None else f"seed {last}")


def stamp_text(seed: str) -> str:
    """Return the line with the seed in the caller's words."""
    now = Settings().read("")
    has_gpu = now.get("gpu") not in (None, "none")
    parts = [
        [seed],
        [f"{name} {digest}" for name, digest in snapshot().digests.items()],
        _told(now, [*_SETTINGS, *(_ON_GPU if has_gpu else ())]),
        [*_told(now, [*_VERSIONS, *(("cuda", "cudnn") if has_gpu else ())]), *_own_version()],
        [str(now[name]) for name in ("cpu", "gpu" if has_gpu else "") if now.get(name)],
    ]
    return visible("; ".join(", ".join(part) for part in parts if part))


def _told(values: Mapping[str, object], names: Iterable[str]) -> list[str]:
    return [
        f"{name.removeprefix('torch.')} {write_value(values[name]).removeprefix('torch.')}"
        for name in names
        if values.get(name) is not None
    ]


def _own_version() -> list[str]:
    try:
        return [f"ipytorchseed {version('ipytorchseed')}"]
    except PackageNotFoundError:  # run from a folder that was not installed
        return []
