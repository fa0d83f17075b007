"""The cell takes the last item away each time.

run: setup take take
ask: take
probe: job
changed: yes
expect: input queue 2
"""
# %% setup
queue = ["c", "b", "a"]
# %% take
job = queue.pop()
