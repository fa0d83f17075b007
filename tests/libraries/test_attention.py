"""The backends of attention change numbers on a CPU too."""


def test_a_backend_that_is_off_is_named(notebook):
    """The answer names the cell that turned it off, and how to turn it on."""
    book = notebook("torch")
    book.run(
        "import torch\nq = torch.rand(2, 4, 64, 32, generator=torch.Generator().manual_seed(0))"
    )
    asked = "out = torch.nn.functional.scaled_dot_product_attention(q, q, q)"
    book.run(asked, "asked")
    book.run("torch.backends.cuda.enable_flash_sdp(False)")
    book.run(asked, "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("flag", "torch.backends.cuda.flash_sdp_enabled")
    assert cause["proof"] == "proved"
