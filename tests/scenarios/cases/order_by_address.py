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
kept.append([object() for _ in range(3)])
kept.append([Node(i) for i in range(500)])
kept[-1][0], nodes = Node(0), kept[-1]
kept[0].clear()
# %% order
shown = [node.name for node in sorted(nodes, key=lambda node: id(node))]
print(shown)
