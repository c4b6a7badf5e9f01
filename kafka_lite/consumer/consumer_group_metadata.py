"""The metadata of a consumer with which a transactional producer commits its offsets.

Kafka 2.5: clients/.../consumer/ConsumerGroupMetadata.java · book 10.3
"""

from __future__ import annotations

from typing import NamedTuple

UNKNOWN_GENERATION_ID = -1
UNKNOWN_MEMBER_ID = ""


class ConsumerGroupMetadata(NamedTuple):
    """A consumer's membership: the group coordinator refuses the offsets of a member that has been replaced (KIP-447).

    With the defaults it checks nothing, as for a consumer with ``assign``.
    """

    group_id: str
    generation_id: int = UNKNOWN_GENERATION_ID
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None
