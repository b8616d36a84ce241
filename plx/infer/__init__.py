"""A factor graph to exact answers or samples."""
