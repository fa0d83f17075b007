"""A registry's entry is another function now.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input MODELS
allow: code *
"""
# %% setup
MODELS = {}
def register(name):
    def wrap(make):
        MODELS[name] = make
        return make
    return wrap
@register("linear")
def linear():
    return 3
@register("wide")
def wide():
    return 5
def build(name):
    return MODELS[name]()
# %% q
out = build("linear") * 2
# %% more
@register("linear")
def faster():
    return 4
