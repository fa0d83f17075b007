"""A cell tells how long it took, and prints a loss that changed for another reason.

run: setup fit fit
ask: fit
probe: losses[-1]
changed: yes
expect: rng torch.cpu 2
allow: input losses
innocent: entropy time.time
"""
# %% setup
import time
import torch
torch.manual_seed(0)
losses = []
# %% fit
began = time.time()
losses.append(torch.rand(1).item())
print(f"loss {losses[-1]:.4f} in {time.time() - began:.6f} s")
