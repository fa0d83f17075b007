"""The documentation covers every public name, and is true."""

import re
import tomllib
from importlib.metadata import metadata, requires
from pathlib import Path

import yaml
from packaging.requirements import Requirement

import ipytorchseed
from docs import tables
from ipytorchseed.determinism.table import FLAGS
from ipytorchseed.render.links import DOCS, anchor, cause_page, flag_page

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs"
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(text):
    """Return the anchors of a page's headings."""
    return [anchor(title) for title in HEADING.findall(text)]


def linked(address):
    """Return the page and the anchor that an address leads to."""
    return address.removeprefix(DOCS).split(".html#")


def test_each_flag_has_one_entry():
    """At the anchor that reports link to, with its reason and the source of it."""
    made = tables.flags()
    found = anchors(made)
    for flag in FLAGS:
        page, place = linked(flag_page(flag.name))
        assert (page, found.count(place)) == ("flags", 1)
        assert flag.why in made
        assert flag.source in made


def test_needs_that_differ_between_machines_are_told():
    """Which value, and where."""
    entries = {each.split("\n")[0]: each for each in tables.flags().split("### ")}
    assert "repeat: `True`\n" in entries["torch.use_deterministic_algorithms"]
    assert "repeat: `False`, on an NVIDIA or AMD GPU\n" in entries["torch.backends.cudnn.benchmark"]
    assert "GPU, up to torch 2.9\n" in entries["CUBLAS_WORKSPACE_CONFIG"]
    assert "repeat: `True`, from" in entries["torch._inductor.config.deterministic"]
    assert "any value, the same in each run" in entries["torch.num_threads"]


def test_each_kind_of_cause_has_its_entry():
    """And a flag's cause leads to that flag, another setting's to its kind."""
    found = anchors((PAGES / "causes.md").read_text("utf-8"))
    kinds = tables.kinds()
    assert [linked(cause_page(kind)) for kind in kinds] == [["causes", kind] for kind in kinds]
    assert sorted(kinds) == sorted(set(kinds) & set(found))
    assert linked(cause_page("flag", "torch.num_threads")) == ["flags", "torch-num-threads"]
    assert linked(cause_page("flag", "pandas.display.precision")) == ["causes", "flag"]


def test_the_reference_has_each_command_schema_and_name():
    """As the package declares them."""
    assert {"%seed", "%why", "%check", "%%deterministic", "%rng diff"} <= set(
        HEADING.findall(tables.magics())
    )
    assert "ipytorchseed kernel install" in HEADING.findall(tables.commands())
    for path in tables.SCHEMAS.glob("*.json"):
        assert f"`{path.name}`" in tables.schemas()
    for name in ("deterministic", "register_source", "snapshot"):
        assert re.search(rf"^\.\. auto\w+:: ipytorchseed\.{name}$", tables.names(), re.MULTILINE)


def test_the_address_of_the_documentation_is_said_once():
    """In the package's metadata and in its links."""
    urls = dict(each.split(", ") for each in metadata("ipytorchseed").get_all("Project-URL"))
    assert DOCS.startswith(urls["Documentation"])


def test_an_anchor_that_no_page_has_is_found(tmp_path):
    """So that a build fails."""
    for page in ("flags", "causes"):
        (tmp_path / f"{page}.html").write_text('<h2 id="rng">rng</h2>', "utf-8")
    missing = tables.missing_anchors(tmp_path)
    assert cause_page("rng") not in missing
    assert cause_page("file") in missing


# --------------------------------------------------------------------------------------------------
# Files that repeat what stands elsewhere


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    """Under the names that conda-forge has."""
    recipe = yaml.safe_load((PAGES / "conda" / "recipe.yaml").read_text("utf-8"))
    names = {"jupyter-client": "jupyter_client", "torch": "pytorch", "xxhash": "python-xxhash"}
    asked = [each for each in map(Requirement, requires("ipytorchseed")) if each.marker is None]
    wanted = {f"{names.get(each.name, each.name)} {each.specifier}" for each in asked}
    python = recipe["context"]["python_min"]
    run = [each.replace("${{ python_min }}", python) for each in recipe["requirements"]["run"]]
    assert set(run) == {*wanted, f"python >={python}"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == f">={python}"
    assert recipe["context"]["version"] == ipytorchseed.__version__


def test_the_citation_is_of_this_version():
    """GitHub and Zenodo read it."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert str(citation["version"]) == ipytorchseed.__version__
    assert citation["title"].startswith("ipytorchseed")
