"""The notebook whose cells are run again."""

from tests.session.conftest import notebook, torch_names  # noqa: F401 -- fixtures
