"""Finds models that a cell evaluates in train mode."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.ledger.records import Run
from ipytorchseed.why.explanation import Explanation, Root
from ipytorchseed.why.value_changes import changed_parts

# Prefixes of a module's parts that training changes.
_PARAMETERS = ("p:", "parameters", "grad")


def find_train_mode(said: Explanation) -> Iterator[Root]:
    """Yield the models that a cell evaluates in train mode, as roots.

    Only models with dropout or batch normalization count. Such a model is yielded if a torch source
    is a cause. It is also yielded if it is itself a cause, and the cell updated its buffers or
    found it in a different mode than before. Cells that train are skipped: they change parameters,
    gradients or an optimizer.
    """
    if said.against is None or not said.causes or _trains(said.run):
        return
    draws = any(cause.kind == "rng" and cause.name.startswith("torch.") for cause in said.causes)
    inputs = {cause.name for cause in said.causes if cause.kind == "input"}
    for name, value in said.run.reads.items():
        after = said.run.writes.get(name, value)
        modes = {each.parts.get("mode") for each in (value, after)}
        if value.kind != "module" or "rates" not in value.parts or modes != {"train"}:
            continue
        updated = any(part.startswith("b:") for part in changed_parts(value, after))
        before = said.against.reads.get(name, value)
        switched = before.parts.get("mode") != value.parts["mode"]
        if draws or (name in inputs and (updated or switched)):
            message = (
                f"`{name}` is in train mode: dropout draws and BatchNorm updates itself on every"
                f" call. To evaluate: `{name}.eval()`"
            )
            yield Root("input", name, message)


def _trains(run: Run) -> bool:
    """Return whether a run changed parameters, gradients or an optimizer."""
    for name, after in run.writes.items():
        before = run.reads.get(name, after)
        moved = changed_parts(before, after) if after.kind == "module" else ()
        if after.kind == "optimizer" or any(part.startswith(_PARAMETERS) for part in moved):
            return True
    return False
