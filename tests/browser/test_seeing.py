"""A user sees states, settings, runs and answers in JupyterLab and Notebook 7."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import ipytorchseed as its
from tests.browser.conftest import opener

START = "%load_ext ipytorchseed\nimport random, torch, numpy as np\n%seed 42"
TRAIN = """weights, losses = torch.zeros(3), []
for step in range(60):
    weights += 0.1 * (torch.randn(3) - weights)
    losses.append(float((1 - weights).abs().sum()))
loss = losses[-1]
loss"""
OWN = "g = torch.Generator().manual_seed(0)"
MIXED = "np.random.rand(), torch.rand(2, generator=g)"

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module", params=["lab", "notebook"])
def trained(request, server, browser):
    """A notebook with an open inspector, whose cell ran twice with two results."""
    with opener(server, browser, f"trained-{request.param}") as open_notebook:
        notebook = open_notebook(START, OWN, TRAIN, MIXED, "%rng", app=request.param, height=1500)
        for index in range(5):
            notebook.run(index)
        notebook.inspector.ready()
        notebook.run(2)
        yield notebook


def test_a_rerun_is_seen_and_explained(trained, shoot):
    """Its row appears by itself, and equal states have equal chips.

    Selecting it shows why the result changed, and the fix.
    """
    inspector = trained.inspector
    row = inspector.row("In[6]")
    row.wait_for()
    assert "≠ In[3]" in row.inner_text()
    chips = row.locator(".its-chip")
    began, ended = (chips.nth(n).get_attribute("title")[:16] for n in range(2))
    assert "started from another state" in chips.first.inner_text()
    assert inspector.row("In[3]").locator(".its-chip").last.get_attribute("title") == began
    inspector.says("torch.cpu", "seed 42 + 720 draws · In[6]")
    now = inspector.root.locator(f'.its-now .its-chip[title="{ended}"]')
    assert now.count() == 1
    inspector.pick("In[6]").click()
    inspector.why.get_by_text(re.compile(r"In\[6\] compared with In\[3\]")).wait_for()
    why = inspector.why.inner_text()
    assert "took 360 numbers from it" in why
    assert "%replay 3" in why
    assert inspector.why.locator("svg path").count() == 3 * inspector.why.locator("svg").count() > 0
    shoot(trained, f"{trained.app}-light")


def test_a_live_notebook_shows_nothing_twice(trained):
    """The static copy, for pages without a kernel, is hidden below a live view."""
    static = trained.page.locator(".its-static")
    assert static.count() == 1
    assert not static.is_visible()
    assert trained.inspector.root.is_visible()
    saved = trained.save()
    outputs = saved.cells[4].outputs
    assert [("text/html" in each["data"]) for each in outputs] == [True, False]
    assert "application/vnd.jupyter.widget-view+json" in outputs[1]["data"]
    assert "<script" not in outputs[0]["data"]["text/html"]
    assert "0x" not in outputs[1]["data"]["text/plain"]


def test_states_settings_and_columns(trained):
    """Every source and generator; settings unfold, worst first."""
    inspector = trained.inspector
    cards = inspector.root.locator(".its-now > div")
    assert [text.split("\n")[0] for text in cards.all_inner_texts()] == [
        "python", "numpy", "torch.cpu", "g",
    ]  # fmt: skip
    heads = inspector.root.locator(".its-scroll thead th").all_inner_texts()
    assert heads[:3] == ["Run", "Cell", "Result"]
    assert sorted(heads[3:-1]) == ["g", "numpy", "torch.cpu"]  # python did not move
    settings = inspector.root.locator(".its-settings")
    assert "can still change results" in settings.inner_text()
    settings.locator("summary").click()
    told = settings.inner_text()
    assert "to fix it, start Jupyter with" in told
    assert told.index("To change") < told.index("As it should be")


def test_two_runs_are_compared(open_notebook):
    """They are selected with Shift or by the button, and may be of different cells."""
    notebook = open_notebook(START, "torch.rand(1).item()", "torch.rand(2)", "%rng")
    for index in range(4):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.pick("In[2]").click()
    inspector.pick("In[3]").click(modifiers=["Shift"])
    inspector.why.get_by_text(re.compile(r"In\[3\] and In\[2\] are two cells")).wait_for()
    picked = inspector.root.locator(".its-picked")
    picked.nth(1).wait_for()
    assert picked.count() == 2
    inspector.pick("In[2]").click()
    inspector.why.get_by_text(re.compile("first run of its cell|run only once")).wait_for()
    inspector.why.get_by_role("button", name="Compare with…").click()
    inspector.pick("In[3]").click()
    inspector.why.get_by_text(re.compile(r"In\[3\] and In\[2\] are two cells")).wait_for()


def test_runs_that_only_looked_are_listed_on_request(open_notebook):
    """This includes cells that could not be parsed, and later runs."""
    looks = ("%rng", "%why", "%seed?", "this is no code")
    notebook = open_notebook(START, "torch.rand(1).item()", *looks)
    for index in range(6):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    notebook.run(3)
    notebook.run(1)
    names = inspector.root.locator(".its-pick")
    inspector.row("In[8]").wait_for()
    assert names.all_inner_texts() == ["In[2]", "In[8]"]
    inspector.root.get_by_label("All runs").check()
    inspector.row("In[7]").wait_for()
    assert names.all_inner_texts() == [f"In[{number}]" for number in range(2, 9)]
    notebook.run(3)
    inspector.row("In[9]").wait_for()
    inspector.root.get_by_label("All runs").uncheck()
    inspector.row("In[9]").wait_for(state="detached")
    inspector.row("In[2]").wait_for()
    inspector.row("In[8]").wait_for()
    assert names.all_inner_texts() == ["In[2]", "In[8]"]


LOOKS = {
    "dark": ("JupyterLab Dark", 1200),
    "high-contrast": ("JupyterLab Dark High Contrast", 1200),
    "narrow": ("JupyterLab Light", 400),
    "wide": ("JupyterLab Light", 1800),
}


def test_themes_and_widths_have_no_fault_of_accessibility(open_notebook, shoot, report_missing):
    """axe-core checks everything unfolded, and a screenshot of each is saved."""
    if not AXE.exists():
        report_missing("axe-core is not installed: npm ci, in tests/browser")
    notebook = open_notebook(START, OWN, TRAIN, MIXED, "%rng", app="notebook", height=2400)
    for index in range(5):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    notebook.run(2)
    inspector.pick("In[6]").click()
    inspector.why.locator("svg").first.wait_for()
    inspector.root.get_by_role("button", name="Reseed…").click()
    notebook.page.add_script_tag(path=AXE)
    for name, (theme, width) in LOOKS.items():
        notebook.theme(theme)
        notebook.page.set_viewport_size({"width": width, "height": 2400})
        for folded in (False, True):
            inspector.unfold(unfolded=not folded)
            assert faults(notebook) == []
            if folded:
                shoot(notebook, name)
        assert inspector.root.evaluate("it => it.scrollWidth <= it.clientWidth")


def faults(notebook):
    """Return the findings of axe-core in the inspector."""
    found = notebook.page.evaluate(
        "async () => (await axe.run('.its-inspector', {resultTypes: ['violations']})).violations"
    )
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found]


HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


def test_what_the_user_wrote_is_never_html(open_notebook):
    """Cells, variables, keys, names and printed text are shown literally."""
    notebook = open_notebook(
        START,
        f"rngs = {{{json.dumps(HOSTILE)}: random.Random(1)}}",
        f"x = [{json.dumps(HOSTILE)}, *rngs.values()][1].random(); {json.dumps(HOSTILE)} + str(x)",
        "%rng",
    )
    for index in (0, 1, 2, 2, 3):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.pick("In[4]").click()
    inspector.why.get_by_text(re.compile("compared with In")).wait_for()
    assert json.dumps(HOSTILE) in inspector.root.locator(".its-cell").all_inner_texts()[0]
    inspector.save_as(HOSTILE)
    inspector.told.get_by_text("a name has at least").wait_for()
    notebook.page.wait_for_timeout(300)
    assert inspector.root.locator("img, script, iframe").count() == 0
    assert notebook.page.locator(".its-static").locator("img, script").count() == 0
    assert "taken" not in notebook.page.title()


PAGE = """async ([module, style, told]) => {
  document.documentElement.style.colorScheme = "light";
  const {default: widget} = await import(URL.createObjectURL(new Blob([module], {type: "text/javascript"})));
  const root = document.body.attachShadow({mode: "open"});
  root.innerHTML = "<style></style><div class=dark><div></div></div>";
  root.querySelector("style").textContent = style;
  let hear;
  const model = {
    get: () => told,
    on: (event, callback) => { if (event === "msg:custom") hear = callback; },
    off: () => {},
    send: ({ask, view}) => hear({...told, rule: "asked again", say: ask === "open" && "alone", view}),
  };
  widget.render({model, el: root.querySelector("div > div")});
}"""


def test_without_a_shell_there_is_what_stands_and_a_button_to_look_again(browser, put_back):
    """The page is like marimo's, with a shadow root and a class for the dark theme."""
    its.seed(42)
    shown = its.inspector()
    page = browser.new_page()
    page.evaluate(PAGE, [shown._esm, shown._css, shown.told])
    root = page.locator(".its-inspector")
    assert root.evaluate("it => getComputedStyle(it).colorScheme") == "dark"
    assert "seed 42" in root.locator(".its-now").inner_text()
    assert root.get_by_role("button").all_inner_texts() == ["Look again"]
    root.get_by_role("button").click()
    root.get_by_text("asked again").wait_for()
    assert "runs" not in root.inner_text()
    page.close()
