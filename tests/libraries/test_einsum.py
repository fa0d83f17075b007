"""torch.einsum asks opt_einsum for the order of products."""

MATRICES = """
import torch
torch.manual_seed(0)
a, b, c = torch.rand(60, 60), torch.rand(60, 60), torch.rand(60, 1)
"""

ASKED = "out = float(torch.einsum('ij,jk,kl->il', a, b, c).double().sum())\nout"


def test_the_order_of_products_is_named(notebook):
    """Another order rounds differently."""
    book = notebook("opt_einsum")
    book.run(MATRICES)
    book.run(ASKED, "asked")
    book.run("torch.backends.opt_einsum.enabled = False")
    book.run(ASKED, "asked")
    (cause,) = book.why()["causes"]
    assert (cause["name"], cause["proof"]) == ("torch.backends.opt_einsum", "proved")
    assert "enabled True → False" in cause["message"]
