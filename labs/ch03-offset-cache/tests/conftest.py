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
        must_be_offset(found, "get")
        return found.offset if found else None

    def on_commit_append(self, offsets, appended_offset):
        try:
            super().on_commit_append(offsets, appended_offset)
        except KeyError as error:
            pytest.fail(
                f"a commit that is not pending (any more) changes nothing, and raises nothing: KeyError {error}"
            )

    def remove(self, topic_partitions):
        try:
            removed = super().remove(topic_partitions)
        except KeyError as error:
            pytest.fail(f"nothing is committed for this partition: there is nothing to remove, and no KeyError {error}")
        for each in removed.values():
            must_be_offset(each, "remove")
        return removed

    def remove_if(self, is_expired):
        def asked(partition, offset):
            must_be_offset(offset, "is_expired")
            return is_expired(partition, offset)

        return super().remove_if(asked)


def must_be_offset(found, what):
    assert found is None or isinstance(found, OffsetAndMetadata), (
        f"{what} is about an OffsetAndMetadata, which a CommittedOffset contains, not about {type(found).__name__}"
    )


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
