"""A registry got another entry; what changed is the noise of the model that is made.

run: setup q more q
ask: q
probe: out
changed: yes
expect: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
MODELS = {}
def register(name):
    def wrap(make):
        MODELS[name] = make
        return make
    return wrap
@register("linear")
def linear():
    return torch.nn.Linear(3, 1)
@register("wide")
def wide():
    return torch.nn.Sequential(torch.nn.Linear(3, 9), torch.nn.Linear(9, 1))
def build(name):
    return MODELS[name]()
# %% q
model = build("linear")
out = model.weight.tolist() if hasattr(model, "weight") else 0
# %% more
@register("deep")
def deep():
    return torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(4)])
