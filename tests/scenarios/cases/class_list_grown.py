"""A list of the class grew by a decorator: it was not redefined.

run: setup names more names
ask: names
probe: out
changed: yes
expect: input Registry 3
says: In[3] changed `Registry`: .items
"""
# %% setup
class Registry:
    items = []
    @classmethod
    def add(cls, k):
        cls.items.append(k.__name__)
        return k
@Registry.add
class A: pass
# %% names
out = ",".join(Registry.items)
# %% more
@Registry.add
class B: pass
