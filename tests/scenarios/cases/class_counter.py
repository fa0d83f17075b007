"""Objects number themselves by a counter of their class.

run: setup make make
ask: make
probe: node.id
changed: yes
expect: input Node 2
"""
# %% setup
class Node:
    count = 0
    def __init__(self):
        Node.count += 1
        self.id = Node.count
# %% make
node = Node()
