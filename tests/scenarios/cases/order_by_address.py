"""What is sorted by ``id`` is in the order of addresses.

run: setup make order make order
ask: order
probe: shown
changed: yes
expect: entropy id
"""
# %% setup
class Node:
    def __init__(self, name):
        self.name = name


kept = []
# %% make
nodes = sorted([Node(0) for _ in range(500)], key=id, reverse=bool(kept))
for name, node in enumerate(nodes):
    node.name = name
kept.append(nodes)
# %% order
shown = [node.name for node in sorted(nodes, key=lambda node: id(node))]
print(shown)
