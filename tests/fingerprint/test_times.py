"""Objects that keep their own times work, or identities: these are no content."""

from __future__ import annotations

import copy
import time

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from tqdm import tqdm

from ipytorchseed.fingerprint import fingerprint


def digest(value):
    """Return the name of a value."""
    return fingerprint(value).digest


def search(shift=0.0):
    """Fit a search; how long that takes is never twice the same."""
    rows = np.linspace(0, 1, 40).reshape(20, 2) + shift * np.eye(20, 2)
    found = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
    return found.fit(rows, np.arange(20) % 2)


def bar(steps=3, pause=0.0):
    """Run a bar to its end, or leave it on the way."""
    made = tqdm(range(3), disable=False, leave=False)
    for number, _ in enumerate(made, 1):
        time.sleep(pause)
        if number == steps:
            break
    made.close()
    return made


def vectorizer(*words, identity=1):
    """Fit a vectorizer that remembers where in memory its stop words lay."""
    made = CountVectorizer().fit(words)
    made._stop_words_id = identity
    return made


CASES = {
    "a search": (search, search, lambda: search(shift=3.0)),
    "a bar": (lambda: bar(pause=0.01), lambda: bar(pause=0.15), lambda: bar(steps=2)),
    "a vectorizer": (
        lambda: vectorizer("one", "two"),
        lambda: vectorizer("one", "two", identity=2),
        lambda: vectorizer("one", "three"),
    ),
    "a lazy layer": (
        lambda: torch.nn.LazyLinear(3),
        lambda: torch.nn.LazyLinear(3),
        lambda: torch.nn.LazyLinear(4),
    ),
}


@pytest.mark.parametrize(("one", "same", "other"), CASES.values(), ids=CASES)
def test_what_is_no_content_makes_no_difference(one, same, other):
    """What is content does, and nothing is written to the object."""
    value = one()
    before = dict(vars(value))
    assert digest(value) == digest(same())
    assert digest(value) != digest(other())
    assert vars(value) == before


def test_handle_of_a_hook_is_no_content():
    """It counts all hooks of the process, and refers to the others of the layer."""
    layer = torch.nn.Identity()
    first, second = (layer.register_forward_hook(print) for _ in range(2))
    assert digest(first) == digest(second)


def test_copied_layer_with_a_hook_of_its_own_is_the_same():
    """Torch wraps a method that hears of states being loaded.

    A copy of that lacks its names.
    """

    class Heard(torch.nn.Identity):
        def hear(self, *_):
            """Hear of a state being loaded."""

    layer = Heard()
    layer.register_load_state_dict_pre_hook(type(layer).hear)
    layer._register_load_state_dict_pre_hook(layer.hear)
    assert digest(copy.deepcopy(layer)) == digest(layer)
    before = digest(layer)
    layer._register_load_state_dict_pre_hook(print)
    assert digest(layer) != before


def test_scores_of_a_search_are_content():
    """Only times are left out of its results."""
    one, other = search(), search()
    other.cv_results_["mean_test_score"] = other.cv_results_["mean_test_score"] + 1e-9
    assert digest(one) != digest(other)
    assert "a:cv_results_.mean_test_score" in fingerprint(one).parts
    assert not [name for name in fingerprint(one).parts if name.endswith(("_time", "_time_"))]
