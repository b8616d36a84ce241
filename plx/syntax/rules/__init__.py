"""Rules about mistakes, by what they look at: each takes a Mistake and gives a Diagnostic or None."""
