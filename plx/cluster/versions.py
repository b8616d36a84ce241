"""What a process runs on. This is sent to workers as text: one of another plx, or of none, can say so."""

from __future__ import annotations


def versions() -> dict[str, str]:
    """The versions of Python and of what chains are made of; ``none`` for what is not installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in ("plx", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found
