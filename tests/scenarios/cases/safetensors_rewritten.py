"""Weights are loaded by a library that opens files in native code.

run: save load save@2 load
ask: load
probe: total
changed: yes
expect: file weights.safetensors 3
needs: safetensors
"""
# %% save
import torch
from safetensors.torch import load_file, save_file

save_file({"w": torch.ones(2)}, "weights.safetensors")
# %% save@2
import torch
from safetensors.torch import load_file, save_file

save_file({"w": torch.full((2,), 3.0)}, "weights.safetensors")
# %% load
total = load_file("weights.safetensors")["w"].sum().item()
