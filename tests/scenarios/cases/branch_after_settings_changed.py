"""The cell changes the settings through a helper before it asks them: the branch runs.

run: setup go change go
ask: go
probe: out
changed: yes
expect: input extra 3
"""
# %% setup
settings = {"extra": False}
extra = [1]


def switch(which):
    which["extra"] = True


# %% go
switch(settings)
out = sum(extra) if settings["extra"] else 0
# %% change
extra.append(5)
settings["extra"] = False
