"""The evidence of a run of Helix: what the administrator wants at last, and the external views.

Not in Kafka. It is plain data, since each simulated process has its own copy of every class.
"""

from __future__ import annotations

from typing import NamedTuple

CLUSTER = "helix"
View = dict[str, dict[str, str]]
"""From partitions to the states of instances."""


class Plan(NamedTuple):
    """The wish of the administrator for a resource."""

    mode: str
    """A name of RebalanceMode."""
    state_model: str
    top_state: str
    second_state: str
    """The state of all replicas but the first one; the same as ``top_state`` if there is no other."""
    replicas: int
    lists: dict[str, list[str]]
    """The instances of each partition, the first one for the top state; without any in FULL_AUTO."""


class Facts:
    """Filled by the administrator."""

    def __init__(self) -> None:
        self.is_set_up = False
        """Whether there is a cluster that members may join."""
        self.changes = 0
        """How often something was changed while things went wrong."""
        self.is_planned = False
        """Whether ``plans`` are the last ones."""
        self.plans: dict[str, Plan] = {}
        """The resources that should be there."""
        self.views: dict[str, View] = {}
        """The latest external views."""
