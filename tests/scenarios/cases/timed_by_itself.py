"""A cell that seeds itself tells how long it took: that is no other result.

run: setup fit fit
ask: fit
probe: loss
changed: no
innocent: entropy time.time
"""
# %% setup
import time
import torch
def train():
    began = time.time()
    torch.manual_seed(0)
    loss = torch.rand(1).item()
    time.sleep(0.01 + began % 0.01)
    print(f"loss {loss:.4f}, took {time.time() - began:.6f} s")
    return loss
# %% fit
loss = train()
