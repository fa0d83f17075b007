"""Makes records of runs from all their fields by name."""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.ledger.records import Outputs, Outside, Run


def make_run(**fields):
    """Make a run; fields of ``outputs`` and ``outside`` need no nesting."""
    return changed(None, **fields)


def changed(run, **fields):
    """Return a run with other fields, as for ``make_run``; None for a new one."""
    for name, kind in (("outputs", Outputs), ("outside", Outside)):
        inner = {each: fields.pop(each) for each in kind.__struct_fields__ if each in fields}
        if inner:
            fields[name] = replace(kind() if run is None else getattr(run, name), **inner)
    calls = fields.get("nondeterministic_calls")
    if isinstance(calls, tuple):
        fields["nondeterministic_calls"] = dict.fromkeys(calls, True)
    return Run(**fields) if run is None else replace(run, **fields)
