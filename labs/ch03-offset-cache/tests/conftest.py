"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offset_cache import OffsetCache

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


class Cache(OffsetCache):
    """An offset cache with plain numbers as offsets."""

    def commit(self, offset, partition=ZERO):
        """Prepare a commit; returns its key."""
        commit = {partition: OffsetAndMetadata(offset, "", 1000)}
        self.prepare_commit(commit)
        return commit

    def number(self, partition=ZERO):
        """The committed offset, or None."""
        found = self.get(partition)
        return found.offset if found else None


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def cache():
    """An empty cache; its partitions here are t-0 and t-1."""
    return Cache()


@pytest.fixture
def zero():
    """t-0."""
    return ZERO


@pytest.fixture
def one():
    """t-1."""
    return ONE
