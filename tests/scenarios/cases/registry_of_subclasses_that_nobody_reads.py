"""A subclass more was entered in the registry of a base, which the cell does not read; and x was set.

run: setup use other x use
ask: use
probe: z
changed: yes
expect: input x 4
innocent: input Op
"""
# %% setup
import abc
class Op(abc.ABC):
    registry = {}
    def __init_subclass__(cls): Op.registry[cls.__name__] = cls
    @abc.abstractmethod
    def run(self, x): ...
class Double(Op):
    def run(self, x): return 2 * x
op = Double(); x = 1
# %% use
z = op.run(x)
# %% other
class Triple(Op):
    def run(self, x): return 3 * x
# %% x
x = 5
