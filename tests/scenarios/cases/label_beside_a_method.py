"""A method draws its batch; a label of its object and the notes that it keeps changed beside.

run: setup step label step
ask: step
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input trainer
"""
# %% setup
import torch
torch.manual_seed(0)
X = torch.arange(40.0).reshape(20, 2)
class Trainer:
    def __init__(self, model):
        self.model, self.name, self.losses = model, "first", []
    def batch(self):
        return X[torch.randint(len(X), (4,))]
    def step(self):
        loss = self.model(self.batch()).sum().item()
        self.losses.append(loss)
        return loss
trainer = Trainer(torch.nn.Linear(2, 1))
# %% step
loss = trainer.step()
# %% label
trainer.name = "second"
