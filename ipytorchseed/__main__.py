"""``python -m ipytorchseed``."""

from ipytorchseed.cli import main

if __name__ == "__main__":
    main(prog_name="python -m ipytorchseed")
