"""Names whose content a cell sets anew before it reads them."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.overwrites import LAYERS, WHOLE, Lent

TRANSFORM = TransformerManager().transform_cell


def found(source):
    """Return the names that are overwritten, and those that are initialised."""
    anew = effects_of_cell(source, TRANSFORM).anew
    return tuple({name for name in ("m", "x") if anew.get(name) == how} for how in (WHOLE, LAYERS))


@pytest.mark.parametrize(
    "source",
    [
        "m.load_state_dict(start)\ntrain(m)",
        "result = m.load_state_dict(start)",
        "opt = SGD(m.parameters())\nm.train()\nm.load_state_dict(start)",
        "for fold in folds:\n    m.load_state_dict(start)\n    train(m)",
        "with torch.no_grad():\n    m.zero_()\nprint(m)",
        "m.random_(10)",
        "y = m.bernoulli_(0.5)",
        "%%time\nm.load_state_dict(start)",
        "m.clear()\nm.append(1)",
        "m.load_state_dict(start, strict=True)",
        "m[:] = 0\nm += 1",
        "m[...] = x",
        "def run(net, steps):\n    net.load_state_dict(start)\n    fit(net)\nloss = run(m, 3)",
        "def run():\n    m.load_state_dict(start)\n    fit(m)\nprint(run())",
        "def clear(a):\n    a.clear()\ndef run(k, b):\n    clear(b)\nfor i in x:\n    run(i, b=m)",
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
        "for layer in m:\n    layer.reset_parameters()",
        "for layer in m:\n    if hasattr(layer, 'weight'):\n        layer.reset_parameters()",
        "for p in m.parameters():\n    p.fill_(0.5)",
        "for p, q in zip(m.parameters(), start.parameters()):\n    p.data.copy_(q.data)",
        "for q, p in zip(start, m.parameters()):\n    p.data = q",
        "vector_to_parameters(theta, m.parameters())",
        "with torch.no_grad():\n    m.apply(reset)",
        "def fit(net):\n    net.apply(reset)\n    train(net)\nloss = fit(m)",
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
        "for p in m.parameters():\n    p.copy_(p * 0.5)",
        "for p, q in zip(m.parameters(), start.parameters()):\n    p.copy_(p + q)",
        "for p, q in zip(m.parameters(), m.buffers()):\n    p.copy_(q)",
        "for q, p in zip(start, m.parameters()):\n    q.copy_(p)",
        "vector_to_parameters(f(m), m.parameters())",
        "for layer in m:\n    print(layer)\n    layer.reset_parameters()",
        "for layer in m:\n    total += 1",
        "m.apply(double)",
        "x = init_model(m)",
        "reset(m, x)",
        "m.zero_().add_(m)",
        "x = m\nx.clear()",
        "print(m.parameters())\nm(x)\nm.load_state_dict(start)",
        "m[:] = m + 1",
        "m[1:] = 0",
        "def run(net):\n    net.load_state_dict(start)\nrun(m) if x else m",
        "def run(net):\n    net.load_state_dict(start)\nlater = lambda: run(m)\ntrain(m)",
        "def run(net):\n    net.load_state_dict(start)\nrun(m, m)",
        "def run():\n    m.load_state_dict(start)\nstart_thread(run)\ntrain(m)",
        "def run(net):\n    train(net)\n    net.load_state_dict(start)\nrun(m)",
        "def run(m):\n    m.load_state_dict(start)\nrun(x)\ntrain(m)",
        "def run(net):\n    if x:\n        return\n    net.load_state_dict(start)\nrun(m)",
        "for i in x:\n    if i:\n        continue\n    m.load_state_dict(start)\ntrain(m)",
        "def run(net):\n    net.load_state_dict(start)\n    yield 1\nrun(m)\ntrain(m)",
        "@twice\ndef run(net):\n    net.load_state_dict(start)\nrun(m)",
        "def log(*things):\n    print(*things)\nlog(m)",
        "def log(*things, **more):\n    print(*things)\nlog(x, m)",
    ],
)
def test_something_is_read_first(source):
    """Or may be, for all that the text tells."""
    assert "m" not in set.union(*found(source))


@pytest.mark.parametrize(
    ("source", "lent"),
    [
        ("loss = run(3, m).item()", Lent("run", 1)),
        ("print(helpers.run(3, net=m))", Lent("helpers.run", "net")),
        ("def outer(net):\n    inner(1, net)\nouter(m)", Lent("inner", 1)),
    ],
)
def test_an_object_is_given_to_a_function_first(source, lent):
    """What that does with it decides."""
    assert effects_of_cell(source, TRANSFORM).anew["m"] == lent


@pytest.mark.parametrize(
    ("cell", "anew"),
    [
        ("np.multiply(a, 2, out=m)\ns = m.sum()", True),
        ("np.cumsum(a, out=m)\ns = m.sum()", True),
        ("np.multiply(a, 2, out=m, where=a > 1)\ns = m.sum()", False),
        ("np.multiply(m, 2, out=m)", False),
        ("own(a, out=m)\ns = m.sum()", False),
        ("s = m.sum()\nnp.multiply(a, 2, out=m)", False),
    ],
)
def test_all_of_an_array_given_as_out_is_set(notebook, cell, anew):
    """By functions of numpy that choose no part of it."""
    notebook.run(
        "import numpy as np\na, m = np.ones(3), np.zeros(3)",
        "def own(a, out):\n    out += a",
    )
    assert ("m" in notebook.dependencies(cell).overwritten) is anew
