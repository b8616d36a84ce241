"""What a process runs on. Workers are sent the text of this: one of another Python or plx, or of no plx, can
say so."""

from __future__ import annotations

from inspect import getsource


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


def asked() -> str:
    """An expression that has the value of `versions` in the process that evaluates it."""
    return f"(exec({getsource(versions)!r}, found := {{}}), found['versions']())[1]"
