"""The inspector without IPython, as in marimo and in scripts."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, random
import ipytorchseed as its

before = random.getstate()
bare = its.inspector()
its.seed(42)
import torch
g = torch.Generator().manual_seed(7)
torch.rand(3, generator=g)
for _ in range(2):
    with its.deterministic(warn=True):
        torch.zeros(2).put_(torch.tensor([1]), torch.ones(1))
shown = its.inspector()
made = shown.get_state()
sent = []
shown.send = sent.append
state = random.getstate()
random.random()
shown._handle_custom_msg({"ask": "open", "view": "v"}, [])
after = random.getstate()
random.setstate(state)
random.random()
print(json.dumps({
    "none": bare.told,
    "text": repr(shown),
    "told": made["told"],
    "saved": [*made],
    "sent": sent,
    "looks draw": after != random.getstate(),
    "report": its.report().text(),
    "shell": __import__("IPython").get_ipython() is not None,
}))
"""


def test_without_a_shell_it_shows_what_the_functions_did():
    """It has sources, the caller's generators, settings and alerts.

    They are in the saved state, and in later answers.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    said = json.loads(done.stdout)
    assert (said["shell"], said["looks draw"]) == (False, False)
    assert [each["name"] for each in said["none"]["now"]] == ["python"]
    assert said["none"]["settings"]["brief"].startswith("torch is not imported yet")

    told = said["told"]
    stands = {each["name"]: each["where"] for each in told["now"]}
    assert stands == {
        "python": "seed 42",
        "numpy": "seed 42",
        "torch.cpu": "seed 42",
        "g": "seed 7 + 3 draws",
    }
    assert all(each["chip"] for each in told["now"])
    assert told["rule"].startswith("last seed: 42 · as of ")
    ((alert, instead),) = told["alerts"]  # once, though it ran twice
    assert alert.startswith("put_ (line 13")
    assert instead.startswith("x.view(-1)[index]")

    (answer,) = said["sent"]
    assert answer["say"] == "alone"
    assert answer["view"] == "v"
    assert answer["now"][0]["where"] == "seed 42 + 2 draws"

    for text in (said["text"], said["report"]):
        assert "with its.deterministic():" in text
        assert "%" not in text.partition("To see all ")[0]
        assert max(map(len, text.splitlines())) <= 80
    assert "g (torch.Generator)" in said["text"]
