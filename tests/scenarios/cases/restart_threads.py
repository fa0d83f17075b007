"""The new kernel was started with another number of threads.

run: setup add !env OMP_NUM_THREADS=1 !restart setup add
ask: add
probe: total
changed: yes
expect: flag torch.num_threads or environment OMP_NUM_THREADS
kernel: cold
"""
# %% setup
import os, torch
if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(4)
torch.manual_seed(0)
x = torch.randn(3_000_001)
# %% add
total = x.sum().item()
