"""The cell samples text without a seed.

run: setup seed sample sample
ask: sample
probe: text
changed: yes
expect: rng torch.cpu 3
"""
# %% setup
import torch
alphabet = "abcdefgh"
def generate(n):
    return "".join(alphabet[torch.multinomial(torch.ones(8), 1)] for _ in range(n))
# %% seed
torch.manual_seed(0);
# %% sample
text = generate(20)
