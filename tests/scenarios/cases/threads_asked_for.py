"""The number of threads is what the cell computes with; other data came as well.

run: setup use threads use
ask: use
probe: (mean, workers)
changed: yes
expect: flag torch.num_threads 3
expect: input data 3
"""
# %% setup
import torch
data = torch.ones(8)
# %% use
mean = data.mean().item()
workers = torch.get_num_threads() * 2.0
# %% threads
torch.set_num_threads(torch.get_num_threads() + 1)
data = data + 1
