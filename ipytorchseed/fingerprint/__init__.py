"""Fingerprints of values: digests of content, not of identity."""

from ipytorchseed.fingerprint.digest import fingerprint
from ipytorchseed.fingerprint.memo import Memo
from ipytorchseed.fingerprint.meter import Budget
from ipytorchseed.fingerprint.value import Fingerprint, same

__all__ = ["Budget", "Fingerprint", "Memo", "fingerprint", "same"]
