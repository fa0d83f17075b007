"""Results of each key are averaged with those that were there.

run: setup score score
ask: score
probe: scores
changed: yes
expect: input scores 2
"""
# %% setup
values = {"a": [1.0, 2.0], "b": [3.0, 5.0]}
scores = {}
# %% score
for name, each in values.items():
    scores[name] = (
        sum(each) / len(each)
        + 0.5 * scores.get(name, 0.0)
    )
print(scores)
