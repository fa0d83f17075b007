"""Takes the README's pictures, light and dark, in JupyterLab: ``make picture``.

A cell runs twice; ``%why`` explains why its number differs; ``%replay`` brings the first back.
"""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from tests.browser.conftest import chromium
from tests.browser.front_ends import Notebook, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WIDTH, COLOURS, MOST = 920, 128, 100_000
"""Of the window in pixels; of a picture; bytes that it may take."""

MODEL = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 1))
x = torch.randn(64, 8)"""

SCORE = """\
score = model(x).mean().item()
print(f"{score:.4f}")"""

CELLS = ("%load_ext ipytorchseed\n%seed 42", MODEL, SCORE, "%why", "%replay")
STORY = (0, 1, 2, 2, 3, 4)
SHOWN = 2
"""The cells, the order in which they are run, and the first that is shown."""

CALM = """
    .jp-cell-toolbar, .jp-Collapser { visibility: hidden !important }
    .jp-Cell { outline: 0 !important; box-shadow: none !important; border-color: #0000 !important }
"""
"""What only the cell has that was last clicked."""


def main() -> None:
    """Write both pictures beside this file."""
    folder = Path(tempfile.mkdtemp())
    size = {"width": WIDTH, "height": 1400}
    with (
        Server(folder) as server,
        chromium(folder / "browser", device_scale_factor=2, viewport=size) as browser,
    ):
        for name, theme in THEMES.items():
            server.write(name, CELLS)
            notebook = Notebook(browser.new_page(), server, name, "lab", alone=True)
            notebook.open()
            notebook.theme(theme)
            notebook.page.add_style_tag(content=CALM)
            path = Path(__file__).with_name(f"picture-{name}.png")
            below([*shots(notebook)]).quantize(COLOURS).save(path, optimize=True)
            assert path.stat().st_size < MOST, f"{path} takes {path.stat().st_size:,} bytes"
            print(path)
            notebook.close()


def shots(notebook: Notebook) -> Iterator[Image.Image]:
    """Play the story; give a picture of each cell that tells it, as it then looks."""
    for index in STORY:
        notebook.run(index)
        if index >= SHOWN:
            yield Image.open(BytesIO(notebook.cell(index).screenshot())).convert("RGB")


def below(images: list[Image.Image]) -> Image.Image:
    """Put pictures below one another."""
    whole = Image.new(
        "RGB", (max(each.width for each in images), sum(each.height for each in images))
    )
    top = 0
    for each in images:
        whole.paste(each, (0, top))
        top += each.height
    return whole


if __name__ == "__main__":
    main()
