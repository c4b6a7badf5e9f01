"""Task 3: the checkpoint."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint

COUNTS, USERS = TopicPartition("app-counts-changelog", 1), TopicPartition("users", 1)
PAIRS = [(b"k", b"%d" % number) for number in range(8)]


def registered(manager, store):
    manager.register(store, lambda _key, _value: None)
    return manager


@pytest.mark.points(8, task=3)
def test_the_next_offset(manager_of, changelog_of, store_of, checkpoint_file):
    """The last record of the store has offset 20"""
    registered(manager_of(changelog_of(PAIRS)), store_of(persistent=True)).checkpoint({COUNTS: 20})
    found = OffsetCheckpoint(checkpoint_file).read()
    assert found == {COUNTS: 21}, (
        f"the checkpoint is the next offset: 20 is in the store, so it is 21; yours is {found}"
    )


@pytest.mark.points(6, task=3)
def test_nothing_was_sent(manager_of, changelog_of, store_of, checkpoint_file):
    """Then what was restored counts"""
    registered(manager_of(changelog_of(PAIRS)), store_of(persistent=True)).checkpoint({})
    found = OffsetCheckpoint(checkpoint_file).read()
    assert found == {COUNTS: 8}, f"8 records were restored and none was sent: the checkpoint is 8; yours is {found}"
    manager = registered(manager_of(changelog_of(PAIRS), lock_retries=0), store_of("unlogged"))
    for name in ("counts", "table"):
        registered(manager, store_of(name, persistent=True))
    manager.checkpoint({COUNTS: 20})
    found = OffsetCheckpoint(checkpoint_file).read()
    assert found == {COUNTS: 21, USERS: 8}, (
        f"the task has two stores with changelogs, and each has its checkpoint: 21 and 8; yours: {found}"
    )


@pytest.mark.points(6, task=3)
def test_stores_without(manager_of, changelog_of, store_of, checkpoint_file):
    """In memory, or without a changelog"""
    manager = registered(manager_of(changelog_of(PAIRS)), store_of(persistent=False))
    registered(manager, store_of("unlogged", persistent=True)).checkpoint({COUNTS: 20})
    found = OffsetCheckpoint(checkpoint_file).read()
    assert found == {}, f"a store in memory is empty after a restart: it has no checkpoint; yours is {found}"


@pytest.mark.points(5, task=3)
def test_a_full_disk(manager_of, changelog_of, store_of, caplog):
    """It is logged, and nothing else happens"""
    manager = registered(manager_of(changelog_of(PAIRS)), store_of(persistent=True))

    def write(_offsets):
        raise OSError(28, "No space left on device")

    manager._checkpoint.write = write
    try:
        manager.checkpoint({COUNTS: 20})
    except OSError:
        pytest.fail("a checkpoint that cannot be written is no reason to stop: log a warning")
    assert caplog.records, "a checkpoint that cannot be written is logged: somebody should know that the disk is full"
