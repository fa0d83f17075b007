"""A user acts: with the keyboard, while cells run, and after the kernel has ended."""

from __future__ import annotations

import json
import re

import pytest

from tests.notebook.test_seed_each import UNDER_42

START = "%load_ext ipytorchseed\nimport random, torch, numpy as np\n%seed 42"
DRAW = "torch.rand(3).sum().item()"
NEW_COLUMN = "late = torch.Generator(); torch.rand(1, generator=late);"


def test_with_the_keyboard_alone_a_run_is_rewound_to(open_notebook):
    """The next numbers are the run's, the timeline shows it, and Undo reverts it."""
    notebook = open_notebook(START, DRAW, "%rng")
    notebook.run(0)
    first = notebook.run(1)
    notebook.run(2)
    inspector = notebook.inspector.ready()
    again = notebook.run(1)
    assert number(again) != number(first)
    keys = notebook.page.keyboard
    inspector.row("In[4]").wait_for()
    inspector.root.locator('.its-pick[tabindex="0"]').focus()
    for key in ("Home", "End", "ArrowUp", "ArrowUp"):
        keys.press(key)
    focused = notebook.page.locator(":focus")
    assert focused.inner_text() == "In[2]"
    keys.press("Enter")
    inspector.why.get_by_text(re.compile("first run of its cell|run only once")).wait_for()
    assert focused.inner_text() == "In[2]"
    keys.press("Tab")
    assert focused.inner_text() == "Rewind to In[2]"
    keys.press("Enter")
    inspector.told.get_by_text("Put back to the start of In[2]").wait_for()
    inspector.root.locator("tr", has_text="%seed rewind 2").wait_for()
    inspector.says("torch.cpu", "seed 42 · #")
    inspector.told.get_by_role("button", name="Undo").press("Enter")
    inspector.says("torch.cpu", "seed 42 + 6 draws")
    inspector.why.get_by_role("button", name="Rewind to In[2]").press("Enter")
    inspector.says("torch.cpu", "seed 42 · #")
    assert number(notebook.run(1)) == number(first)


def number(output):
    """Return the number that a cell showed."""
    return float(re.search(r"\d\.\d+", output)[0])


def test_reseed_save_and_restore(open_notebook):
    """States have names, and an existing name needs a confirmation.

    Focus returns to the button.
    """
    notebook = open_notebook(START, DRAW, "%rng")
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    press = inspector.press
    keys = notebook.page.keyboard
    focused = notebook.page.locator(":focus")
    inspector.save_as("before training")
    inspector.told.get_by_text("Saved python, numpy, torch.cpu").wait_for()
    assert focused.inner_text() == "Save…"
    press("Reseed…")
    keys.type("7")
    keys.press("Enter")
    inspector.told.get_by_text("Seeded python, numpy, torch.cpu with 7.").wait_for()
    inspector.says("python", "seed 7")
    press("Reseed…")
    keys.type("seven")
    keys.press("Enter")
    inspector.told.get_by_text("a seed is an integer from 0 to 4294967295").wait_for()
    keys.press("Escape")
    assert focused.inner_text() == "Reseed…"
    inspector.save_as("before training")
    inspector.told.get_by_text("Replace it?").wait_for()
    assert focused.inner_text() == "No"
    keys.press("Enter")
    inspector.told.get_by_text("Nothing was done.").wait_for()
    press("Restore…")
    keys.press("Tab")
    keys.press("Enter")
    inspector.told.get_by_text("to the state saved as 'before training'").wait_for()
    inspector.says("torch.cpu", "seed 42 + 3 draws")


def test_one_button_brings_the_result_back(open_notebook, shoot):
    """The cells behind the result run again, a row is added, and Undo reverts it."""
    notebook = open_notebook(START, DRAW, "%rng", "%why")
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    notebook.run(1)
    inspector.says("torch.cpu", "seed 42 + 6 draws")
    inspector.pick("In[4]").click()
    inspector.why.get_by_text("To get the earlier result back:").wait_for()
    assert "proved" not in inspector.why.inner_text()
    notebook.run(3)  # it tests the cause, and what it finds is kept
    inspector.pick("In[4]").click()
    inspector.why.get_by_text("proved: restoring it gives In[2]'s result again").wait_for()
    shoot(notebook, f"{notebook.app}-proved-light")
    inspector.why.get_by_role("button", name="Replay In[2]", exact=True).click()
    again = re.compile(r"The new run is In\[2\]'s result again, bit for bit\.")
    inspector.told.get_by_text(again).wait_for()
    inspector.says("torch.cpu", "seed 42 + 3 draws")
    shoot(notebook, f"{notebook.app}-replayed-light")
    notebook.theme("JupyterLab Dark")
    shoot(notebook, f"{notebook.app}-replayed-dark")
    inspector.told.get_by_role("button", name="Undo").click()
    inspector.says("torch.cpu", "seed 42 + 6 draws")


def test_the_mending_command_is_copied(open_notebook):
    """Pasted into a cell, it fixes the result."""
    notebook = open_notebook(START, DRAW, "%rng", "")
    first = [notebook.run(index) for index in range(3)][1]
    inspector = notebook.inspector.ready()
    notebook.run(1)
    inspector.pick("In[4]").click()
    inspector.why.get_by_role("button", name="Copy %replay 2").click()
    inspector.told.get_by_text("Copied: %replay 2").wait_for()
    copied = notebook.page.evaluate("() => navigator.clipboard.readText()")
    assert number(notebook.run(3, copied)) == number(first)


def test_it_stays_right_while_a_long_cell_runs(open_notebook):
    """Meanwhile no states are shown as current and buttons do nothing.

    Afterwards the run has a row.
    """
    notebook = open_notebook(
        START,
        "1",
        "%rng",
        "import time, os\nrandom.random()\nwhile not os.path.exists('go'): time.sleep(.05)",
    )
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.says("python", "seed 42")
    notebook.run(3, wait=False)
    inspector.pick("In[2]").click()
    notebook.page.wait_for_timeout(500)
    inspector.says("python", "seed 42")
    rewind = inspector.why.get_by_role("button", name="Rewind to In[2]")
    if rewind.count():  # a front end that asks while a cell runs
        rewind.click()
        inspector.told.get_by_text("A cell is running").wait_for()
    (notebook.server.folder / "notebooks" / "go").touch()
    inspector.row("In[4]").wait_for()
    inspector.says("python", "seed 42 + 2 draws · In[4]")


def test_two_views_show_the_same(open_notebook):
    """Each has its own selection, and shows the actions of the other."""
    notebook = open_notebook(START, "%rng", "import ipytorchseed as its\nits.inspector()", DRAW)
    for index in range(4):
        notebook.run(index)
    views = [notebook.view(index).ready() for index in (1, 2)]
    for view in views:
        view.row("In[4]").wait_for()
    views[0].pick("In[4]").click()
    views[0].why.get_by_text(re.compile("first run of its cell|run only once")).wait_for()
    assert "Choose a run" in views[1].why.inner_text()
    views[0].why.get_by_role("button", name="Rewind to In[4]").click()
    for view in views:
        view.root.locator("tr", has_text="%seed rewind 4").wait_for()
        view.says("torch.cpu", "seed 42 · #")
    assert notebook.page.locator(".its-static:visible").count() == 0
    metadata = notebook.save().metadata.get("widgets", {})
    states = metadata.get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    assert sum("_esm" in each["state"] for each in states.values()) <= 1


def test_a_restarted_kernel_is_said_and_a_new_inspector_works(open_notebook, shoot):
    """The last content can still be read, and buttons are disabled.

    A new inspector shows the earlier runs.
    """
    notebook = open_notebook(START, DRAW, "%rng", alone=True)
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.row("In[2]").wait_for()
    notebook.restart()
    inspector.root.get_by_text("Disconnected").wait_for()
    assert inspector.row("In[2]").is_visible()
    assert inspector.root.get_by_role("button", name="Reseed…").is_disabled()
    shoot(notebook, "disconnected")
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.row("In[2]").wait_for()
    inspector.pick(r"#\d+").first.wait_for()
    assert inspector.root.get_by_text("Disconnected").is_hidden()


def test_unloading_is_said_and_loading_again_reconnects(open_notebook):
    """The same view works again."""
    notebook = open_notebook(
        START, "%rng", "%unload_ext ipytorchseed", "%load_ext ipytorchseed", "%rng\n1"
    )
    notebook.run(0)
    notebook.run(1)
    inspector = notebook.view(1).ready()
    notebook.run(2)
    # what it says then depends on whether a question of the view was under way
    inspector.root.get_by_text("Disconnected. ipytorchseed").wait_for()
    notebook.run(3)
    notebook.run(4)
    notebook.view(4).ready()
    inspector.root.get_by_text("Disconnected").wait_for(state="hidden")
    inspector.row("In[5]").wait_for()


def test_a_notebook_opened_anew_shows_the_static_copy(open_notebook):
    """Without its kernel, states and runs can be read, and no live view is shown."""
    notebook = open_notebook(START, DRAW, "%rng")
    for index in range(3):
        notebook.run(index)
    notebook.inspector.ready()
    notebook.save()
    notebook.shut_down()
    again = open_notebook(name=notebook.name, height=1400)
    shown = again.page.locator(".jp-OutputArea-output", has_text="Randomness").first
    shown.wait_for()
    assert "In[2]" in shown.inner_text()
    assert "seed 42 + 3 draws" in shown.inner_text()
    assert again.page.locator(".its-live").count() == 0


def test_after_the_page_is_loaded_again_it_lives_on(open_notebook):
    """The kernel still runs, so the view reconnects and shows the next run."""
    notebook = open_notebook(START, DRAW, "%rng", alone=True)
    for index in range(3):
        notebook.run(index)
    notebook.inspector.ready()
    notebook.save()
    notebook.reload()
    inspector = notebook.inspector.ready()
    inspector.row("In[2]").wait_for()
    notebook.run(1)
    inspector.row("In[4]").wait_for()
    assert notebook.page.locator(".its-static:visible").count() == 0


def test_a_press_outlasts_what_is_drawn_meanwhile(open_notebook):
    """Rows keep their place if a message arrives while the mouse button is down."""
    notebook = open_notebook(START, "%rng", DRAW)
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.row("In[3]").wait_for()
    for _ in range(2):  # the second time, nothing but the press draws again
        inspector.pick("In[3]").hover()
        notebook.page.mouse.down()
        notebook.page.evaluate("() => document.querySelector('.its-scroll').dispatchEvent("
                               "new Event('scroll'))")  # fmt: skip
        notebook.page.wait_for_timeout(1000)
        notebook.page.mouse.up()
        inspector.why.get_by_text(re.compile("first run of its cell|run only once")).wait_for(
            timeout=5000
        )


def cells(notebook):
    """Count the cells."""
    return notebook.page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets.length")


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_keys_in_the_inspector_do_not_reach_the_notebook(open_notebook, app):
    """This holds after a click on a row, and when a focused row is redrawn."""
    notebook = open_notebook(START, DRAW, "%rng", NEW_COLUMN, app=app)
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    before = cells(notebook)
    inspector.row("In[2]").locator(".its-cell").click()
    notebook.page.keyboard.press("b")
    assert cells(notebook) == before
    inspector.pick("In[2]").focus()
    notebook.page.evaluate(
        "() => { jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({"
        f"code: {json.dumps(NEW_COLUMN)}}}); }}"
    )
    inspector.root.locator("thead th", has_text="late").wait_for()
    notebook.page.keyboard.press("b")
    assert cells(notebook) == before


@pytest.mark.parametrize("app", ["lab", "notebook"])
@pytest.mark.parametrize("how", ["died", "restarted"])
def test_a_kernel_that_is_gone_is_said_at_once(open_notebook, app, how):
    """The view says so without any action."""
    cells = (START, DRAW, "%rng", "import os; os._exit(1)")
    notebook = open_notebook(*cells, app=app, alone=True)  # the front end leaves a dialog
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    if how == "died":
        notebook.run(3, wait=False)
    else:
        notebook.restart()
    inspector.root.get_by_text("Disconnected").wait_for()
    notebook.idle()
    notebook.errors.clear()  # of the front end, whose own questions were not answered


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_each_cell_has_its_numbers_in_both_front_ends(open_notebook, app):
    """Cells have the front end's ids, and run in any order."""
    notebook = open_notebook(
        "%load_ext ipytorchseed\nimport torch", "%seed each 42", *reversed(UNDER_42), app=app
    )
    for index in range(2):
        notebook.run(index)
    for index, numbers in enumerate(reversed(UNDER_42.values()), 2):
        assert numbers in notebook.run(index)


def test_a_connection_that_the_front_end_closed_is_mentioned(open_notebook):
    """Later questions cause no script error, and the view says that it is out of date."""
    notebook = open_notebook(START, DRAW, "%rng", alone=True)
    for index in range(3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    row = inspector.row("In[2]")
    row.wait_for()
    notebook.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.dispose(); }"
    )
    row.click()
    inspector.root.locator(".its-note", has_text="Disconnected.").wait_for()


def test_an_answer_of_why_is_live(open_notebook):
    """Its buttons, variables and runs react to clicks; reopened, it is static."""
    notebook = open_notebook(START, "lr = 0.1", "lr * torch.rand(3).sum().item()", "%why")
    for index, text in ((0, None), (1, None), (2, None), (1, "lr = 0.2"), (2, None), (3, None)):
        notebook.run(index, text)
    card = notebook.cell(3).locator(".its-card.its-live")
    card.locator(".its-name-of").first.click()
    card.get_by_text(re.compile(r"In\[4\] compared with In\[2\]")).wait_for()
    card.get_by_role("button", name="Replay In[3]", exact=True).click()
    card.locator(".its-told", has_text="result again, bit for bit").wait_for()
    assert notebook.page.locator(".its-static:visible").count() == 0
    notebook.save()
    notebook.shut_down()
    again = open_notebook(name=notebook.name)
    again.page.locator(".its-static").wait_for()
    assert "model not found" not in again.page.locator(".jp-Notebook").inner_text(), "hidden"


def test_the_line_under_a_changed_cell_has_a_button(open_notebook):
    """The button shows the answer below, and hides it again."""
    notebook = open_notebook(START, "%why on", DRAW)
    for index in (0, 1, 2, 2):
        notebook.run(index)
    line = notebook.cell(2).locator(".its-line")
    line.get_by_role("button", name="Why?").click()
    line.get_by_text("torch's random stream had moved on").wait_for()
    line.get_by_role("button", name="Why?").click()
    assert line.get_by_text("torch's random stream had moved on").is_hidden()
