"""What holds for all tests."""

from hypothesis import settings

# How long an example takes says how fast the machine is, and nothing of the program.
settings.register_profile("plx", deadline=None)
settings.load_profile("plx")
