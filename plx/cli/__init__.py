"""The command line. Only this package prints and exits."""

from plx.cli.exits import main

__all__ = ["main"]
