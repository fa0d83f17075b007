"""Clauses as sentences."""

from __future__ import annotations

import pytest

from ipytorchseed.why.words import sentence


@pytest.mark.parametrize(
    ("clause", "written"),
    [
        ("", ""),
        ("nothing was found", "Nothing was found."),
        ("torch.cpu moved", "torch.cpu moved."),
        ("loss: made by an earlier cell", "loss: made by an earlier cell."),
        ("data/, which In[3] listed, holds different files now", None),
        ("In[3] imports numpy", "In[3] imports numpy."),
        ("my_mnist.csv, which In[3] read, has changed since", None),
    ],
)
def test_a_name_at_the_beginning_is_written_as_it_is(clause, written):
    """``torch.cpu`` does not become ``Torch.cpu``, and names of files stay unchanged."""
    assert sentence(clause) == (f"{clause}." if written is None else written)
