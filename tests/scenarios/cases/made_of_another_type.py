"""A tensor is made of another's type, which is another now, by a method of a class of one's own.

run: setup make change make
ask: make
probe: [out.tolist(), str(out.dtype), taken.tolist()]
changed: yes
expect: input x 3
expect: input own 3
"""
# %% setup
import torch
class Own(torch.Tensor):
    def new_zeros(self, *size):
        return self.as_subclass(torch.Tensor) * 2
x, own = torch.tensor([1.0, 2.0]), torch.tensor([1.0]).as_subclass(Own)
# %% make
out, taken = x.new_zeros(2), own.new_zeros(1)
# %% change
x, own = torch.tensor([1, 2]), torch.tensor([2.0]).as_subclass(Own)
