"""A magic captures what the cell prints: the rate that it prints changed, the decay did not act.

run: mk use ch use
ask: use
probe: cap.stdout
changed: yes
expect: input lr 3
"""
# %% mk
lr = 0.1; wd = 0.0
# %% use
%%capture cap
print("lr", lr)
# %% ch
lr = 0.2; wd = 0.3
