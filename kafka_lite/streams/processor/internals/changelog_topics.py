"""The names of changelog topics.

Kafka 0.10.2: streams/.../processor/internals/ProcessorStateManager.java (storeChangelogTopic) · book 9.1.4
"""

from __future__ import annotations

STATE_CHANGELOG_TOPIC_SUFFIX = "-changelog"


def store_changelog_topic(application_id: str, store_name: str) -> str:
    """``word-count-counts-changelog`` for the store ``counts`` of the application ``word-count``."""
    return f"{application_id}-{store_name}{STATE_CHANGELOG_TOPIC_SUFFIX}"
