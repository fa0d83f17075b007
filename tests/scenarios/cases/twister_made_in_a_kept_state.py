"""The agent holds its own random.Random, which another cell had it draw from; the buffer is the same.

run: imports cls make act explore act
ask: act
probe: picks
changed: yes
expect: input agent 5 or rng agent 5
"""
# %% imports
import random
# %% cls
class Agent:
    def __init__(self, n, seed):
        self.rng = random.Random(seed)
        self.table = [i / n for i in range(n)]
    def choose(self, k, eps=0.5):
        best = max(range(len(self.table)), key=self.table.__getitem__)
        return [self.rng.randrange(len(self.table)) if self.rng.random() < eps else best for _ in range(k)]
# %% make
agent = Agent(10, seed=4)
# %% act
snapshot = random.Random()
snapshot.setstate(agent.rng.getstate())
agent2 = Agent(10, 0); agent2.rng = snapshot
picks = agent2.choose(8)
picks
# %% explore
warmup = agent.choose(3)
random.seed(0)
