"""What the figures were measured on."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba

PACKAGES = ("plx", "numpy", "numba", "pynauty", "pybliss")


def machine() -> str:
    """One line: processor, cores, memory, system, versions, date."""
    return (
        f"{_processor()}, {os.cpu_count()} cores ({numba.get_num_threads()} for threads), {_memory()}; "
        f"{platform.system()} {platform.release().split('-')[0]}; Python {platform.python_version()}, "
        f"{', '.join(f'{name} {installed(name)}' for name in PACKAGES)}; {datetime.date.today():%Y-%m-%d}"
    )


def load() -> str:
    """How busy the machine is with other work."""
    return f"load {os.getloadavg()[0]:.1f} when the run began"


def installed(name: str) -> str | None:
    """The version of a package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    flags = next((line for line in lines if line.startswith("flags")), "")
    widest = next((name for name in ("avx512f", "avx2", "sse4_2") if name in flags), "")
    return " ".join(filter(None, [model or platform.machine(), f"with {widest}" if widest else ""]))


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.0f} GiB"
