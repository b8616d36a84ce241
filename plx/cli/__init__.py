"""The command line. Only this package prints and exits."""

from plx.cli.commands import main

__all__ = ["main"]
