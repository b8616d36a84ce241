"""What counting may take."""

from __future__ import annotations

MANY = 20_000
"""With more factors than this, counting is tried before an elimination order is searched for."""

LARGEST = 2.0**22
"""Count vectors of all families of a component, taken together: 32 MB for each array over them."""

JOINT_BITS = 27.0
"""log₂ of the numbers that a joint distribution may need in memory: 1 GiB."""

SMALL = 4096
"""A derived node that only a query mentions is summed over its joint input states if these are no more."""

MOST_NODES = 24
"""Nodes of a joint distribution, those that they depend on counted too: each is an axis of an array."""

MOST_CELLS = 1000
"""With more kinds of unknowns than this there is little to count."""

MOST_COUNTERS = 32
"""With more derived nodes than this, counting is not tried: each has an array over all count vectors."""

RAREST = 1e-200
"""A less probable ``given`` is left to conditioning, which can say why it cannot hold."""
