"""The cell seeds itself; the temperature that its function reads was changed.

run: setup sample hotter sample
ask: sample
probe: text
changed: yes
expect: input temperature 3
innocent: rng torch.cpu
"""
# %% setup
import torch
alphabet = "abcdefgh"
logits = torch.linspace(0, 3, 8)
temperature = 1.0
def generate(n):
    probabilities = torch.softmax(logits / temperature, 0)
    return "".join(alphabet[torch.multinomial(probabilities, 1)] for _ in range(n))
# %% sample
torch.manual_seed(0)
text = generate(30)
# %% hotter
temperature = 8.0
