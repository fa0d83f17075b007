"""Paths in a receipt: found again on another machine, without anybody's name."""

from __future__ import annotations

import pytest

from ipytorchseed.receipts.privacy import Places

THERE = Places("/home/merope/work/nb", "/home/merope", "merope")
HERE = Places("/srv/alcor/nb", "/home/alcor", "alcor")
PATHS = {
    "/home/merope/work/nb/train.csv": ("train.csv", "/srv/alcor/nb/train.csv"),
    "/home/merope/work/data/train.csv": ("../data/train.csv", "/srv/alcor/data/train.csv"),
    "/home/merope/.cache/model.pt": ("~/.cache/model.pt", "/home/alcor/.cache/model.pt"),
    "/scratch/merope/x.csv": ("/scratch/<user>/x.csv", "/scratch/alcor/x.csv"),
    "/home/other/x.csv": ("/home/other/x.csv", "/home/other/x.csv"),
    "/data/x.csv": ("/data/x.csv", "/data/x.csv"),
    "/home/merope": ("~", "/home/alcor"),
    "/home/merope/work/nb": (".", "/srv/alcor/nb"),
    "<string>": ("<string>", "/srv/alcor/nb/<string>"),
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_told_from_the_notebook_or_from_home(path):
    """It means the same place next to the notebook, or in the home folder."""
    told, found = PATHS[path]
    assert (THERE.hide(path), HERE.find(told)) == (told, found)


@pytest.mark.parametrize("path", [each for each in PATHS if each[0] == "/"])
def test_on_the_same_machine_it_is_the_same_file(path):
    """Whatever its name represents elsewhere."""
    assert THERE.find(THERE.hide(path)) == path


def test_a_notebook_in_the_home_folder():
    """Its files are beside it, and not in whatever home there is elsewhere."""
    places = Places("/root", "/root", "root")
    assert places.hide("/root/train.csv") == "train.csv"
    assert places.hide("/opt/x.csv") == "/opt/x.csv"
    assert places.scrub("in /root/x and /mnt/root/y") == "in ~/x and /mnt/<user>/y"
