"""What an object keeps when it is reset is what changed.

run: setup roll other roll
ask: roll
probe: total
changed: yes
expect: input env 3
"""
# %% setup
class Env:
    def __init__(self): self.x, self.pace = 0, 1
    def reset(self): self.x = 0
    def step(self):
        self.x += self.pace
        return self.x
env = Env()
# %% other
env.pace = 2
# %% roll
env.reset()
total = sum(env.step() for _ in range(5))
