"""``%config IPyTorchSeed``: what a user can choose."""

from __future__ import annotations

from traitlets import Bool, Float, List, Unicode
from traitlets.config import Configurable

from ipytorchseed.session.config import Config


class IPyTorchSeed(Configurable):
    """The choices, as ``%config`` and IPython's configuration files know them."""

    tracking = Bool(
        default_value=True, help="Record what each cell began with, drew, read and made."
    ).tag(config=True)
    budget = Float(
        0.2, min=0, help="Seconds to spend on looking at values and files, for each cell."
    ).tag(config=True)
    ignore = List(Unicode(), help="Names of variables that are not looked at.").tag(config=True)
    explain_on_change = Bool(
        default_value=False, help="Print a line under a cell whose result changed."
    ).tag(config=True)
    ledger = Unicode("", help="The folder of the run ledger; empty for the usual place.").tag(
        config=True
    )

    def chosen(self) -> Config:
        """Return the choices as they are now."""
        return Config(
            tracking=self.tracking,
            budget=self.budget,
            ignore=frozenset(self.ignore),
            ledger=self.ledger,
        )
