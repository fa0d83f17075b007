"""Names whose content a cell sets anew before it reads them."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.reads.cell import effects_of_cell

TRANSFORM = TransformerManager().transform_cell


def found(source):
    """Return the names that are overwritten, and those that are initialised."""
    effects = effects_of_cell(source, TRANSFORM)
    return effects.overwritten & {"m", "x"}, effects.initialised & {"m", "x"}


@pytest.mark.parametrize(
    "source",
    [
        "m.load_state_dict(start)\ntrain(m)",
        "result = m.load_state_dict(start)",
        "opt = SGD(m.parameters())\nm.train()\nm.load_state_dict(start)",
        "for fold in folds:\n    m.load_state_dict(start)\n    train(m)",
        "with torch.no_grad():\n    m.zero_()\nprint(m)",
        "%%time\nm.load_state_dict(start)",
        "m.clear()\nm.append(1)",
        "m.load_state_dict(start, strict=True)",
    ],
)
def test_nothing_is_left(source):
    """Whatever the name held."""
    assert found(source) == ({"m"}, set())


@pytest.mark.parametrize(
    "source",
    [
        "m.apply(init_weights)",
        "m.apply(lambda layer: layer.reset_parameters())",
        "m.reset_parameters()",
        "for layer in m.children():\n    layer.reset_parameters()",
        "for p in m.parameters():\n    torch.nn.init.normal_(p)",
        "with torch.no_grad():\n    m.apply(reset)",
    ],
)
def test_layers_are_initialised(source):
    """As far as each has a way to."""
    assert found(source) == (set(), {"m"})


@pytest.mark.parametrize(
    "source",
    [
        "train(m)\nm.load_state_dict(start)",
        "m.load_state_dict(m.state_dict())",
        "m.load_state_dict(start, strict=False)",
        "m.load_state_dict(start, strict=given)",
        "if again:\n    m.load_state_dict(start)",
        "def reset():\n    m.load_state_dict(start)\ntrain(m)",
        "for p in m.parameters():\n    print(p)",
        "m.apply(double)",
        "x = init_model(m)",
        "reset(m, x)",
        "m.zero_().add_(m)",
        "x = m\nx.clear()",
        "print(m.parameters())\nm(x)\nm.load_state_dict(start)",
    ],
)
def test_something_is_read_first(source):
    """Or may be, for all that the text tells."""
    assert "m" not in set.union(*found(source))
