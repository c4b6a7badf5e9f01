"""Stage 7, throttling: no more messages at once than the cluster's constraints allow.

Helix 0.6.9: helix-core/.../controller/stages/MessageThrottleStage.java,
helix-core/.../controller/stages/MessageThrottleStageOutput.java (MessageThrottleStageOutput) · book 8.2.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kafka_lite.mirror.helix.model.cluster_constraints import ANY, ConstraintItem, message_attributes
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import PartitionKey
from kafka_lite.mirror.helix.stages.message_generation import Messages

Count = tuple[tuple[str, str], ...]
"""The key under which constraints count messages: attributes with their values."""


def throttle_messages(data: ClusterData, messages: Messages) -> Messages:
    """The messages that may go now. Pending ones count, and are never held back."""
    if not data.constraints:
        return messages
    counts: Counter[Count] = Counter()
    limits: dict[Count, int | None] = {}
    for pending in data.messages.values():
        _allowed(data.constraints, counts, limits, pending)
    allowed: dict[PartitionKey, Sequence[Message]] = {}
    for key, of_partition in messages.items():
        allowed[key] = _allowed(data.constraints, counts, limits, of_partition)
    return allowed


def _allowed(
    constraints: Sequence[ConstraintItem],
    counts: Counter[Count],
    limits: dict[Count, int | None],
    messages: Sequence[Message],
) -> list[Message]:
    """The messages within their limits; all of them are counted. The first limit that a count meets stays its limit."""
    allowed = []
    for message in messages:
        attributes = message_attributes(message)
        within = True
        for key, item in effective_constraints(constraints, attributes).items():
            counts[key] += 1
            limit = limits.setdefault(key, item.limit)
            within = within and (limit is None or counts[key] <= limit)
        if within:
            allowed.append(message)
    return allowed


def effective_constraints(
    constraints: Sequence[ConstraintItem], attributes: Mapping[str, str]
) -> dict[Count, ConstraintItem]:
    """Of the constraints that match a message, the one that holds for each combination of attributes.

    The more specific one holds; of two that are equally specific the lower limit, then the first in alphabetic order.
    """
    chosen: dict[Count, ConstraintItem] = {}
    for item in constraints:
        if item.value == ANY or not item.matches(attributes):
            continue
        key = item.key(attributes)
        other = chosen.get(key)
        if (
            other is None
            or other.matches(item.attributes)
            or (not item.matches(other.attributes) and _lower(item, other))
        ):
            chosen[key] = item
    return chosen


def _lower(item: ConstraintItem, other: ConstraintItem) -> bool:
    first, second = (float("inf") if one.limit is None else one.limit for one in (item, other))
    return (first, str(item)) < (second, str(other))
