"""What holds for all tests."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes says how fast the machine is, and nothing of the program. Each change is tried
# with the same examples; `--hypothesis-profile search` draws new ones.
settings.register_profile("plx", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, derandomize=False)
settings.load_profile("plx")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Python's own handler of SIGINT, which a process in the background of a shell starts without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
