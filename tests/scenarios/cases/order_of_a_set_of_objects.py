"""A set of objects that hash by where they lie has another order in each kernel.

run: setup order !restart setup order
ask: order
probe: names
changed: yes
expect: entropy object.__hash__
"""
# %% setup
class Node:
    def __init__(self, name, children=()):
        self.name = name
        self.children = set(children)


root = Node("root", [Node(f"n{i}") for i in range(5000)])
# %% order
names = [child.name for child in root.children]
