"""How fast samplers approach the truth."""
