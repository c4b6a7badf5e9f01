"""Valid topic names, internal topics, and names that collide in metrics.

Kafka 0.10.2: core/.../common/Topic.scala; since 0.11 clients/.../common/internals/Topic.java · book 7.1.3
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import MAX_NAME_LENGTH

GROUP_METADATA_TOPIC_NAME = "__consumer_offsets"
TRANSACTION_STATE_TOPIC_NAME = "__transaction_state"
SHARE_GROUP_STATE_TOPIC_NAME = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset(
    {GROUP_METADATA_TOPIC_NAME, TRANSACTION_STATE_TOPIC_NAME, SHARE_GROUP_STATE_TOPIC_NAME}
)

_LEGAL_CHARS = re.compile(r"[a-zA-Z0-9._-]+")


def validate_topic_name(topic: str) -> None:
    """Raise ApiError INVALID_TOPIC_EXCEPTION unless the name can be used in directory and metric names."""
    problem = _problem(topic)
    if problem is not None:
        raise Errors.INVALID_TOPIC_EXCEPTION.exception(f"Topic name is invalid: {problem}")


def is_valid_topic_name(topic: str) -> bool:
    """Whether the name is valid for a topic."""
    return _problem(topic) is None


def _problem(topic: str) -> str | None:
    if not topic:
        return "the empty string is not allowed"
    if topic in (".", ".."):
        return "'.' or '..' is not allowed"
    if len(topic) > MAX_NAME_LENGTH:
        return f"the length of '{topic}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if _LEGAL_CHARS.fullmatch(topic) is None:
        return f"'{topic}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def is_internal(topic: str) -> bool:
    """Whether the topic is internal to Kafka."""
    return topic in INTERNAL_TOPICS


def has_collision_chars(topic: str) -> bool:
    """Whether the name has a character that is ambiguous in metric names."""
    return "." in topic or "_" in topic


def has_collision(a: str, b: str) -> bool:
    """Whether two names are equal once every ``.`` has become ``_``, as in metric names."""
    return unify_collision_chars(a) == unify_collision_chars(b)


def unify_collision_chars(topic: str) -> str:
    """The topic's name in metrics."""
    return topic.replace(".", "_")


def colliding_topics(topic: str, others: Iterable[str]) -> list[str]:
    """The topics in ``others`` whose metric names would be the same as that of ``topic``."""
    return [other for other in others if has_collision(topic, other)] if has_collision_chars(topic) else []
