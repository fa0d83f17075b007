"""What user modules set in packages, and what they read."""

import sys
from pathlib import Path

import pytest

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.session.importing import follow_again
from tests.session.conftest import Notebook

SETTING = {
    "by its name": "import json\njson.dumps = repr",
    "by another name": "import json as j\nj.dumps = repr",
    "by a second name": "from json import decoder\nd = decoder\nd.WHITESPACE = 1",
    "of a class": "from json import JSONEncoder\nJSONEncoder.default = repr",
    "in a function": "import json\ndef put():\n    json.dumps = repr\nput()",
    "by setattr": "import json\nsetattr(json, 'dumps', repr)",
    "among others": "import json\njson.dumps, x = repr, 1",
    "by a loop": "import json\nfor json.dumps in (repr,): pass",
}
SETTING_NOTHING = {
    "its own objects": "import json\nclass A:\n    def __init__(self): self.x = 1\na = A()\na.x = 2",
    "what a call returns": "import json\ndecoder = json.JSONDecoder()\ndecoder.memo = {}",
    "names": "import json\ndumps = json.dumps",
}


def _follow(modules: dict[str, str]) -> dict[str, tuple[str, str]]:
    cell = effects_of_cell("import own", str)
    return follow_again(modules, cell, {}, (), 1.0)[1]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a module that has been imported."""
    path = tmp_path / "own.py"
    monkeypatch.setitem(sys.modules, "own", type(sys)("own"))
    return path


@pytest.mark.parametrize("text", SETTING.values(), ids=SETTING)
def test_what_a_module_sets_in_a_package_is_told(text: str, own: Path) -> None:
    """The name that it uses for the package does not matter."""
    own.write_text(text)
    import json

    vars(sys.modules["own"]).update(json=json, j=json, decoder=json.decoder, d=json.decoder)
    vars(sys.modules["own"]).update(JSONEncoder=json.JSONEncoder)
    assert any(name.startswith("json") for name in _follow({"own": str(own)}))


@pytest.mark.parametrize("text", SETTING_NOTHING.values(), ids=SETTING_NOTHING)
def test_what_a_module_sets_elsewhere_is_not_told(text: str, own: Path) -> None:
    """Objects that it makes, and its own names, belong to no package."""
    own.write_text(text)
    assert _follow({"own": str(own)}) == {}


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("{word: at for at, word in enumerate(set(text.split()))}", ("hash",)),
        ("np.random.default_rng().random()", ("numpy.random.default_rng",)),
        ("sorted(set(text.split()))", ()),
    ],
)
def test_what_the_code_of_a_module_asks_is_told_of_the_cell_that_imports_it(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, asked: tuple
) -> None:
    """The module was not imported when the cell began."""
    name = f"vocabulary_{tmp_path.name}"
    text = f"import numpy as np\ndef make(text):\n    return {body}\n"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    run = notebook.run(f"import {name}\nfound = {name}.make('a b c d')")
    assert tuple(run.nondeterministic_calls) == asked


def test_a_module_that_is_gone_sets_nothing(own: Path) -> None:
    """Its file may have been removed since."""
    assert _follow({"own": str(own)}) == {}
