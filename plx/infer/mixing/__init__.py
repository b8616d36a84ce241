"""Which parts of a program mix badly under a sampler, and what would help."""
