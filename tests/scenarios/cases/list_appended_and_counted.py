"""The cell appends to a list and counts it: its own run made it longer.

run: setup use use
ask: use
probe: out
changed: yes
expect: input log 2
"""
# %% setup
log = []
# %% use
log.append(1)
out = len(log)
