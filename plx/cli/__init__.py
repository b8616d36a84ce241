"""The command line. Only this package prints and exits."""

from plx.cli.commands import app, main

__all__ = ["app", "main"]
