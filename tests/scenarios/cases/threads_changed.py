"""Another number of threads adds up in another order.

run: setup add limit add
ask: add
probe: total
changed: yes
expect: flag torch.num_threads 3
"""
# %% setup
import torch
torch.set_num_threads(4)
torch.manual_seed(0)
x = torch.randn(3_000_001)
# %% add
total = x.sum().item()
# %% limit
torch.set_num_threads(1)
