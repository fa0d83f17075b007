"""Two flags were set; one only rounds differently, and the result has another type.

run: setup make change make
ask: make
probe: str(out.dtype)
changed: yes
expect: flag torch.default_dtype 3
innocent: flag torch.use_deterministic_algorithms
innocent: flag torch.num_threads
"""
# %% setup
import torch
# %% make
out = torch.zeros(2) + 0.5
# %% change
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
