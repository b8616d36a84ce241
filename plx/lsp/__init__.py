"""A language server: what editors ask of a program while it is written."""
