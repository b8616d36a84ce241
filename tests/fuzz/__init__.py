"""Damaged inputs: whatever is read, only PlxError may come out, in bounded time and memory.

The tests try a few thousand. ``python -m tests.fuzz --minutes 30`` tries as many as there is time for, from a
seed of its own (``--seed 7`` repeats a run), and keeps what fails in a folder (``--keep found``).
"""
