"""Pyro keeps parameters without variables."""

ASKED = "loss = (pyro.param('w', torch.tensor(1.0)) * 3).item()\nloss"


def test_who_changed_its_store_is_named(notebook):
    """The answer has the names of the parameters, without digests."""
    book = notebook("pyro")
    book.run(
        "import torch, pyro\npyro.param('w', torch.tensor(1.0))\npyro.param('v', torch.tensor(1.0));"
    )
    book.run(ASKED, "asked")
    book.run("pyro.get_param_store()['w'] = torch.tensor(2.0)")
    book.run(ASKED, "asked")
    said = book.why()
    (cause,) = said["causes"]
    assert said["keep"] == ["put `pyro.clear_param_store()` at the top of this cell"]
    assert (cause["kind"], cause["name"]) == ("flag", "pyro.get_param_store")
    assert cause["message"].endswith("changed pyro's parameter store: `w`")


def test_experiments_leave_its_store_as_it_was(notebook):
    """This includes numbers that a cell writes into it."""
    book = notebook("pyro")
    book.run("import torch, pyro\npyro.param('w', torch.tensor(1.0));\nrate = 2")
    asked = "with torch.no_grad():\n    pyro.param('w').mul_(rate)\npyro.param('w').item()"
    book.run(asked, "asked")
    book.run("rate = 3")
    assert book.run(asked, "asked") == "6.0"
    assert book.causes()
    assert book.run("pyro.param('w').item()") == "6.0"
