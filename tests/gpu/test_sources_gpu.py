"""CUDA's generators, in fresh interpreters: to be run where a GPU is."""

import subprocess
import sys
import textwrap


def run(program):
    """Run a program in a fresh interpreter, where CUDA has not started."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr


def test_seeding_does_not_start_cuda_and_reaches_it_later():
    """The seed is queued.

    The first numbers on the GPU are those of `torch.manual_seed`.
    """
    run("""
        import torch
        import ipytorchseed as its
        its.seed(42)
        assert not torch.cuda.is_initialized()
        first = torch.rand(5, device="cuda")
        torch.manual_seed(42)
        assert torch.equal(first, torch.rand(5, device="cuda"))
    """)


def test_states_of_a_started_gpu_are_read_named_counted_and_put_back():
    """Equal seeds, equal digests; draws move the offset.

    Restoring gives the same numbers.
    """
    run("""
        import torch
        import ipytorchseed as its
        from ipytorchseed.rng import table
        torch.cuda.init()
        its.seed(42)
        begin = its.snapshot()
        its.seed(42)
        assert begin == its.snapshot() and "torch.cuda:0" in begin.states
        source = {each.name: each for each in table.sources()}["torch.cuda:0"]
        assert table.locate(source, source.read()).seed == 42
        assert table.locate(source, source.read()).draws == 0
        torch.randn(1001, device="cuda")
        assert table.locate(source, source.read()).draws > 0
        middle = its.snapshot()
        numbers = torch.randn(7, device="cuda"), torch.rand(3, device="cuda", dtype=torch.float64)
        its.restore(middle)
        again = torch.randn(7, device="cuda"), torch.rand(3, device="cuda", dtype=torch.float64)
        assert all(map(torch.equal, numbers, again))
    """)


def test_a_gpu_that_starts_inside_an_isolated_block_begins_anew_after_it():
    """Outside, nothing shows that the block drew: the queued seed counts."""
    run("""
        import torch
        import ipytorchseed as its
        torch.manual_seed(7)
        with its.deterministic(42, isolate=True):
            torch.rand(3, device="cuda")
        first = torch.rand(3, device="cuda")
        torch.manual_seed(7)
        assert torch.equal(first, torch.rand(3, device="cuda"))
    """)


def test_looking_at_everything_does_not_start_cuda():
    """Neither the report, nor a snapshot, nor the flags start it."""
    run("""
        import torch
        import ipytorchseed as its
        from ipytorchseed.determinism.table import read_flags
        torch.set_default_device("cuda")
        its.snapshot()
        read_flags()
        str(its.report())
        assert not torch.cuda.is_initialized()
    """)


def test_a_block_puts_every_flag_back_and_repeats_training():
    """cuDNN, TF32 and precision settings are as before.

    Two runs of a CNN give equal losses.
    """
    run("""
        import torch
        from torch import nn
        import ipytorchseed as its
        from ipytorchseed.determinism.table import read_flags
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        before = read_flags()

        def train():
            model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(),
                                  nn.Linear(16 * 30 * 30, 10)).cuda()
            optimizer = torch.optim.Adam(model.parameters())
            losses = []
            for _ in range(20):
                x = torch.randn(32, 3, 32, 32, device="cuda")
                y = torch.randint(0, 10, (32,), device="cuda")
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses

        with its.deterministic(42):
            assert not torch.backends.cudnn.benchmark and torch.backends.cudnn.deterministic
            first = train()
        with its.deterministic(42):
            assert first == train()
        assert read_flags() == before
    """)


def test_an_operation_without_deterministic_algorithm_is_named_with_its_replacement():
    """A `median` on the GPU stops a strict block; the note says what to use instead."""
    run("""
        import torch
        import ipytorchseed as its
        try:
            with its.deterministic():
                torch.rand(100, device="cuda").median(0)
        except RuntimeError as error:
            assert "median" in str(error) and "instead" in error.__notes__[0]
        else:
            raise AssertionError("torch did not raise")
    """)
