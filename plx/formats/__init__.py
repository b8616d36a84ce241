"""Models of other tools, one file per format."""
