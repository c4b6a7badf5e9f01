"""One generation of a consumer group, as a member knows it.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (Generation) · book 5.1.1
"""

from __future__ import annotations

from typing import NamedTuple

UNKNOWN_MEMBER_ID = ""
NO_GENERATION_ID = -1


class Generation(NamedTuple):
    """One generation of the group: this member's id in it, and the assignor that was elected."""

    generation_id: int
    member_id: str
    protocol_name: str | None

    @property
    def has_member_id(self) -> bool:
        """Whether the coordinator has given this member an id."""
        return self.member_id != UNKNOWN_MEMBER_ID


NO_GENERATION = Generation(NO_GENERATION_ID, UNKNOWN_MEMBER_ID, None)
