"""With ten thousand runs, the view opens at their end, scrolls and searches."""

from __future__ import annotations

FILL = """from msgspec.structs import replace
from ipytorchseed.notebook.extension import running
session = running().tracking.session
last = session.last
for number in range(10_000):
    session.ledger.add(replace(last, cell=str(number % 50), source=f"train({number % 50})"), {})"""


def test_ten_thousand_runs_open_scroll_and_are_found(open_notebook):
    """Only visible rows are drawn; End, Home and filters show the others."""
    notebook = open_notebook(
        "%load_ext ipytorchseed\nimport torch\n%seed 42", "torch.rand(1)", FILL, "%rng"
    )
    for index in range(4):
        notebook.run(index)
    inspector = notebook.inspector.ready()
    inspector.row("In[3]").wait_for()
    inspector.root.get_by_text("searching").wait_for(state="hidden")
    assert "10,003 runs" in inspector.root.locator(".its-status").inner_text()
    assert inspector.root.locator("tr.its-row").count() < 60
    assert inspector.root.locator(".its-scroll table").get_attribute("aria-rowcount") == "10003"
    inspector.pick("In[3]").focus()
    notebook.page.keyboard.press("Home")
    inspector.root.locator('tr[aria-rowindex="2"]', has_text="torch.rand(1)").wait_for()
    inspector.root.locator(".its-scroll").evaluate("it => it.scrollTop = it.scrollHeight / 2")
    inspector.root.locator('tr[aria-rowindex="5003"]', has_text="train(").wait_for()
    inspector.root.get_by_role("searchbox").fill("train(7)")
    inspector.root.get_by_text("200 of 10,003").wait_for()
    inspector.root.get_by_text("searching").wait_for(state="hidden")
    cells = inspector.root.locator("tr.its-row .its-cell").all_inner_texts()
    assert {text.strip() for text in cells} == {"train(7)"}
    inspector.root.get_by_role("searchbox").fill("")
    inspector.root.get_by_role("combobox", name="Source").select_option("torch.cpu")
    inspector.root.get_by_text("10,001 of 10,003").wait_for()
