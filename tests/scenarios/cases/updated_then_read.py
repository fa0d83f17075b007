"""A dictionary is updated, and then asked for what an earlier run left there.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input settings 3
"""
# %% setup
settings = {"rate": 1}
# %% q
settings.update(steps=3)
out = settings["rate"] * settings["steps"]
# %% ins
settings["rate"] = 5
