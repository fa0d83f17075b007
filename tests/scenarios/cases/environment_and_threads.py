"""An environment variable scales the data; the number of threads differs, and rounds at most.

run: setup work setup@2 work
ask: work
probe: total
changed: yes
expect: environment SCALE
innocent: flag torch.num_threads
"""
# %% setup
import os, torch
os.environ["SCALE"] = "2"
torch.set_num_threads(1)
# %% setup@2
import os, torch
os.environ["SCALE"] = "3"
torch.set_num_threads(2)
# %% work
total = float(os.environ["SCALE"]) * torch.arange(10.0).sum().item()
