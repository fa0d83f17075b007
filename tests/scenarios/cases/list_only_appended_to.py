"""The cell only appends to a list, which its own run made longer: the rate changed.

run: setup hist use other use
ask: use
probe: out
changed: yes
expect: input lr 4
innocent: input log
"""
# %% setup
lr = 0.1
# %% hist
log = []
# %% use
out = lr * 2
log.append(out)
# %% other
lr = 0.5
