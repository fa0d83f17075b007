"""Settings of libraries, as they stand in the record of a run."""

from __future__ import annotations

from matplotlib_inline import config

from ipytorchseed.determinism.libraries import BY_NAME


def test_format_of_pictures_is_told_where_it_is_set():
    """Showing the first picture sets what is usual, which is no change."""
    told = BY_NAME["InlineBackend"].read
    config.InlineBackend.clear_instance()
    try:
        assert told(config) == {}
        made = config.InlineBackend.instance()
        assert told(config) == {}
        assert made.figure_formats == {"png"}  # asking sets it
        assert told(config) == {}
        made.figure_formats = {"svg", "png"}
        assert told(config) == {"figure_formats": "['png', 'svg']"}
    finally:
        config.InlineBackend.clear_instance()
