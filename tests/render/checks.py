"""Results of checks and traces without a run, the same on every machine."""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.experiment.verdict import Checked, Culprit, Entry
from ipytorchseed.ledger.records import Draw, Observed, Run, Trace
from ipytorchseed.render.check import CheckView
from ipytorchseed.render.rng import CallsView, WhoView
from ipytorchseed.why.explanation import Change

CHANGED = (
    Change("variable", "loss", "2.302585 → 2.302591"),
    Change("variable", "model", "changed 4 of 4 parameters"),
    Change("result", "", "2.302585 → 2.302591"),
)

PUT = Culprit(
    operation="aten::index_put",
    line=7,
    code="z = self.embedding[index] * scale",
    index=112,
    module="model.encoder.embedding",
    backward=True,
    known="switches",
)

EMPTY = Culprit(
    operation="aten::empty",
    line=2,
    code="buffer = torch.empty(1000)",
    index=3,
    unwritten=True,
    read_by=("aten::sum", 9),
    instead="torch.zeros, or write the whole tensor before it is read",
    known="switches",
)

UPSAMPLE = Culprit(
    operation="aten::upsample_bilinear2d_backward",
    line=12,
    code='y = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)[:, :3]',
    index=2048,
    backward=True,
    instead='interpolate(mode="nearest"), or ConvTranspose2d with fixed weights',
    known="raises",
)

CLOCK = "the cell calls `time.time()`, which reads the clock and is different every time"
RNG = (
    "the cell calls `numpy.random.default_rng()`, which draws from the operating system's entropy"
    " and is different every time"
)

CHECKED = {
    "repeats": Checked(2, compared=6),
    "repeats-noted": Checked(
        5, compared=6, notes=("not compared: start (times or memory addresses)",)
    ),
    "nothing": Checked(2),
    "operation": Checked(
        2, CHANGED, 6, culprit=PUT, with_flags="repeats", operations=4_210
    ),
    "unwritten": Checked(2, CHANGED[:1], 2, culprit=EMPTY, with_flags="repeats", operations=12),
    "raises": Checked(
        3, CHANGED[:1] * 8, 9, culprit=UPSAMPLE, with_flags="error",
        flags_said="RuntimeError: upsample_bilinear2d_backward_out_cuda does not have a"
        " deterministic implementation",
        operations=90_000,
    ),
    "outside": Checked(
        2, CHANGED, 6, entry=Entry("aten::mul", 4), suspects=(CLOCK, RNG),
        with_flags="differs", operations=40,
    ),
    "draws": Checked(
        2, CHANGED, 6, entry=Entry("aten::rand", 4, draws=True),
        with_flags="differs", operations=40,
    ),
    "both": Checked(
        2, CHANGED, 6, culprit=PUT, entry=Entry("aten::mul", 4), suspects=(RNG,),
        with_flags="differs", operations=4_210,
    ),
    "traced": Checked(2, CHANGED[:1], 6, with_flags="repeats", operations=4_210),
    "first": Checked(
        2, CHANGED[:1], 6, with_flags="repeats", operations=40, first_only=True,
        notes=(
            "only the first run differs; the others, on copies of the variables, agree. The first may have left a"
            " side effect, such as an import or a filled cache, which is not undone between runs",
        ),
    ),
}  # fmt: skip

_RUN = Run(
    notebook="n", kernel="k", cell="c",
    source="%%deterministic 42 --trace\nrandom.shuffle(names)\nfor x, y in loader:\n"
    "    loss = step(model(x), y)",
    execution_count=7, started=0.0, seconds=1.0, status="ok",
    before={"python": "a", "numpy": "b", "torch.cpu": "c", "g": "1"},
    after={"python": "d", "numpy": "e", "torch.cpu": "f", "g": "2"},
    generators={"g": "torch.Generator"},
)  # fmt: skip

TRACED = {
    "training": (
        Trace(
            traced=12_345,
            draws=(
                Draw("torch.cpu", "aten::random_", 3, "DataLoader", calls=2, numbers=4),
                Draw("g", "aten::randperm", 3, "DataLoader's sampler", calls=2, numbers=3_594),
                Draw(
                    "torch.cpu",
                    "aten::bernoulli_",
                    4,
                    "model.encoder.dropout",
                    False,
                    58,
                    1_900_544,
                ),
                Draw("torch.cuda:0", "aten::native_dropout", 4, "model.head", True, 1, None),
                Draw("python", "python's own", 2, calls=1, numbers=9),
            ),
        ),
    ),
    "nothing": (
        Trace(
            traced=3,
            notes=(
                "a debugger is running, so the lines of python's and numpy's draws are unknown",
            ),
        ),
    ),
}

_DREW = replace(
    _RUN,
    imported=("python",),
    observed=Observed(drew={"numpy": ("train_test_split", "RandomForestClassifier.fit")}),
)

VIEWS = {
    **{f"check-{name}": CheckView(checked) for name, checked in CHECKED.items()},
    **{f"who-{name}": WhoView(_RUN, traces, "k") for name, traces in TRACED.items()},
    "calls": CallsView(_DREW, "k"),
    "calls-none": CallsView(replace(_DREW, imported=(), observed=Observed()), "k"),
}
