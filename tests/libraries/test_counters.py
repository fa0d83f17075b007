"""Counters deep inside the objects of libraries decide what a cell does."""

TRAINER = """
import torch, lightning
from torch.utils.data import DataLoader

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, _):
        return self.layer(batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

loader = DataLoader(torch.ones(4, 2), batch_size=2)
trainer = lightning.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
"""


def test_a_trainer_that_another_cell_used_is_named(notebook):
    """Another cell trained, so it has no epochs left."""
    book = notebook("lightning")
    book.run(TRAINER)
    book.run("done = trainer.global_step\ndone", "asked")
    book.run("trainer.fit(Net(), loader)")
    book.run("done = trainer.global_step\ndone", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("input", "trainer")
    assert [each["execution_count"] for each in cause["blame"]] == [4]


def test_the_points_of_a_sequence_are_counted(notebook):
    """Each run continues where the last one ended."""
    book = notebook("scipy")
    book.run("from scipy.stats import qmc")
    book.run("sampler = qmc.Halton(d=2, rng=0)")
    book.until_changed("points = sampler.random(2)\npoints.tolist()")
    (cause,) = book.why()["causes"]
    assert (cause["name"], cause["proof"]) == ("sampler", "carried")
    assert ".num_generated (0 → 2)" in cause["message"]
