"""All accelerators of a process share their state."""

ASKED = """
layer = torch.nn.utils.skip_init(torch.nn.Linear, 2, 1, bias=False)
model = accelerate.Accelerator(cpu=True).prepare(layer.requires_grad_(False))
model.weight.fill_(0.3)
out = float(model(torch.full((1, 2), 0.1)))
out
"""


def test_the_precision_of_another_accelerator_is_named(notebook):
    """It was made by another cell, and no variable of this one holds it."""
    book = notebook("accelerate")
    book.run("import accelerate, torch")
    book.run("accelerate.Accelerator(cpu=True);")
    book.run(ASKED, "asked")
    book.run(
        "accelerate.state.AcceleratorState._reset_state()\n"
        "accelerate.Accelerator(cpu=True, mixed_precision='bf16');"
    )
    book.run(ASKED, "asked")
    (cause, *_) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("flag", "accelerate.state.AcceleratorState")
    assert "mixed_precision no → bf16" in cause["message"]
