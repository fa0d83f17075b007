"""A helper loads the first weights into the model that it is given.

run: setup q q
ask: q
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
start = {k: v.clone() for k, v in model.state_dict().items()}
X, y = torch.randn(32, 4), torch.randn(32, 1)
def run(model, steps):
    model.load_state_dict(start)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad(); out = ((model(X)-y)**2).mean(); out.backward(); opt.step()
    return out.item()
# %% q
loss = run(model, 3)
