"""Threads only round, and a count changed by one: the text did.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input text 3
innocent: flag torch.num_threads
"""
# %% setup
import torch
text = "abc"
# %% f
s = len(set(text)) + int(torch.tensor([1, 2]).sum())
# %% other
torch.set_num_threads(1 if torch.get_num_threads() > 1 else 2)
text = "abcd"
