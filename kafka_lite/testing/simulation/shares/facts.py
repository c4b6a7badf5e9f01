"""The evidence of a run with a share group: what was delivered, and what the brokers have confirmed.

Not in Kafka. It is plain data, since each simulated process has its own copy of every class.
"""

from __future__ import annotations

from typing import NamedTuple

At = tuple[str, int, int]
"""Topic, partition, offset."""


class Delivery(NamedTuple):
    """A record that a member has got."""

    member: str
    at: At
    times: int
    """The delivery count that the broker says."""
    after: int
    """How many acceptances had been confirmed before the broker can have given it to the member."""


class Facts:
    """Filled by the members, in the order of what happens."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self.attempted: set[At] = set()
        """Records that members have accepted: that may count even if they get no response, or are killed."""
        self.accepted: list[At] = []
        """One for each confirmed acceptance."""

    def deliver(self, member: str, at: At, times: int, after: int) -> None:
        """A member has got a record."""
        self.deliveries.append(Delivery(member, at, times, after))
