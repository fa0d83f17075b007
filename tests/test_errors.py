"""What errors say of other errors."""

import pytest

from ipytorchseed.errors import in_brief


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no state today"), "ValueError: no state today"),
        (
            RuntimeError("CUDA error: assert\nCUDA kernel errors may"),
            "RuntimeError: CUDA error: assert",
        ),
        (RuntimeError("\n  first\nsecond"), "RuntimeError: first"),
        (KeyError(), "KeyError"),
        (OSError("x" * 500), f"OSError: {'x' * 110}…"),
    ],
    ids=["short", "of more lines", "beginning with none", "without words", "long"],
)
def test_an_error_is_told_in_one_line(error, said):
    """Its class, and how what it says begins."""
    assert in_brief(error) == said
    assert len(said) <= 120
