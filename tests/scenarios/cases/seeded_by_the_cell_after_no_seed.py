"""An agent's epsilon decayed in the first run.

run: setup play play
ask: play
probe: actions
changed: yes
expect: input agent 2
innocent: rng python
"""
# %% setup
import random, torch
class Agent:
    def __init__(self):
        self.eps = 1.0
        self.q = torch.tensor([[0.,1.]]*4)
    def act(self, s):
        self.eps *= 0.97
        if random.random() < self.eps:
            return random.randrange(2)
        return int(self.q[s].argmax())
agent = Agent()
# %% play
random.seed(0)
actions = [agent.act(i % 4) for i in range(12)]
