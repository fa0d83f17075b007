"""A set of stop words was extended through another name.

run: setup filter extend filter
ask: filter
probe: kept
changed: yes
expect: input stop 3
"""
# %% setup
stop = {"the", "a"}
words = "the cat sat on a mat".split()
alias = stop
# %% filter
kept = [word for word in words if word not in stop]
# %% extend
alias.add("on")
