"""``%config IPyTorchSeed``: the options of the extension."""

from __future__ import annotations

from traitlets import Bool, Float, List, Unicode
from traitlets.config import Configurable

from ipytorchseed.session.config import Config


class IPyTorchSeed(Configurable):
    """The options, as in ``%config`` and IPython's configuration files."""

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
    prove = Bool(
        default_value=True,
        help="Let %why test causes: run short cells again on copies, and restore one suspect.",
    ).tag(config=True)
    keep_inputs = Bool(
        default_value=True,
        help="Keep small variables and files that cells read (64 KB each, 16 MB in all) in memory,"
        " so that %why can test them.",
    ).tag(config=True)
    ledger = Unicode("", help="The folder of the run ledger; empty for the usual place.").tag(
        config=True
    )

    def chosen(self) -> Config:
        """Return the current options."""
        return Config(*(getattr(self, name) for name in Config._fields))
