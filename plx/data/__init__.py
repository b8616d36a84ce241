"""Data from outside the program: CSV files, Python values and command-line bindings."""

from plx.data.binding import parse_binding
from plx.data.database_rows import Database
from plx.data.load import load
from plx.data.otherwise import Else
from plx.data.table import Data, Table

__all__ = ["Data", "Database", "Else", "Table", "load", "parse_binding"]
