"""Prints the lowest versions that pyproject.toml admits, as constraints for pip."""

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in chain(project["dependencies"], *project["optional-dependencies"].values()):
    if not requirement.startswith(project["name"] + "["):  # extras of its own
        print(re.sub(r">=([^,]*).*", r"==\1", requirement))
