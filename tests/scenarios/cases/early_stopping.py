"""The best score of the first run is in the way of the second.

run: setup fit fit
ask: fit
probe: patience
changed: yes
expect: input best 2
"""
# %% setup
best, patience = float("inf"), 3
scores = [0.5, 0.4]
# %% fit
for score in scores:
    if score < best:
        best = score
    else:
        patience -= 1
