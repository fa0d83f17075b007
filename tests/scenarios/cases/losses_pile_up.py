"""The list of losses goes on growing; the cell trains nothing.

run: setup log log
ask: log
probe: history
changed: yes
expect: input history 2
"""
# %% setup
losses, history = [0.5, 0.25], []
# %% log
for value in losses:
    history.append(value)
