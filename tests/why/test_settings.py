"""Which settings account for a change, by what the cell does."""

from __future__ import annotations

import pytest

from ipytorchseed.why.explain import explain
from tests.render.explanations import States, number, run, value

NUMERICS = "torch._inductor.config.numerics"
FUSED = value("aa01", "function", "compiled step")
PLAIN = value("aa01", "function", "step(x)")


@pytest.mark.parametrize(
    ("source", "step", "causes"),
    [
        ("loss = step(x)", PLAIN, []),
        ("loss = step(x)", FUSED, [NUMERICS]),
        ("loss = torch.compile(step)(x)", PLAIN, [NUMERICS]),
    ],
)
def test_settings_of_compiled_code_count_where_there_is_some(source, step, causes):
    """They act as code is compiled; what they imply is named with them."""
    implied = "torch._inductor.config.emulate_precision_casts"
    runs = [
        run(
            count,
            source,
            reads={"step": step},
            writes={"loss": number(loss)},
            settings={NUMERICS: numerics, implied: numerics == "strict"},
        )
        for count, loss, numerics in ((5, 1.0, "default"), (9, 1.5, "strict"))
    ]
    told = explain(runs[1], runs[0], runs[:1], States(runs))
    assert [cause.name for cause in told.causes] == causes
    cleared = {each.name: each.message for each in told.cleared}
    assert cleared[implied] == f"goes with {NUMERICS}"
    assert cleared.get(NUMERICS, "acts on compiled code only") == "acts on compiled code only"
