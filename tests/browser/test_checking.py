"""``%check`` in JupyterLab: its progress, its stop button, and its answer."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import SHOTS
from tests.browser.layout import faults

CELLS = (
    "%load_ext ipytorchseed\nimport numpy as np",
    "limit = 0.5",
    "x = np.random.rand(3)\nprint(f'mean {x.mean():.4f}')",
    "(x > limit).sum() < 9",
    "%check",
)
WAIT = 180_000


@pytest.fixture
def asked(open_notebook):
    """A notebook that ran, and whose second cell was edited and saved afterwards."""
    notebook = open_notebook(*CELLS)
    for index in range(4):
        notebook.run(index)
    notebook.run(1, "scale = 2")
    notebook.save()
    notebook.run(4)
    return notebook


def test_it_is_stopped_by_its_button(asked):
    """The kernel can be used meanwhile. The button disappears, and the remarks stay."""
    assert asked.run(1, "print(6 * 7)").strip() == "42"
    asked.cell(4).get_by_role("button", name="Stop").click()
    card = asked.cell(4).locator(".its")
    card.get_by_text("The fresh run was stopped.").wait_for()
    asked.cell(4).get_by_role("button", name="Stop").wait_for(state="detached")
    assert "no cell of the file sets it" in card.inner_text()


def test_the_answer(asked):
    """It names unsaved state, and the first different cell and why, in each layout."""
    card = asked.cell(4).locator(".its")
    card.get_by_text(re.compile("In a fresh kernel, .* is the first to differ")).wait_for(
        timeout=WAIT
    )
    asked.cell(4).get_by_role("button", name="Stop").wait_for(state="detached", timeout=WAIT)
    said = card.inner_text()
    assert "limit is read by In[4], and no cell of the file sets it; In[2] did" in said
    assert "numpy is not seeded before this cell" in said
    assert "NameError" in said
    SHOTS.mkdir(exist_ok=True)
    found = []
    for theme, width in (("Light", 1200), ("Dark", 1200), ("Light", 720)):
        asked.theme(f"JupyterLab {theme}")
        asked.page.set_viewport_size({"width": width, "height": 900})
        found += faults(asked.page, ".its")
        card.screenshot(path=SHOTS / f"check-{theme.lower()}-{width}.png")
    assert found == []
