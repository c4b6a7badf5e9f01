"""Task 2: from the changelog into the store."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.streams.errors import StreamsError

PAIRS = [(b"%d" % (number % 3), b"%d" % number) for number in range(8)]


def restored(manager, store):
    """What the store gets, in order."""
    found = []
    manager.restore(store, lambda key, value: found.append((key, value)))
    return found


def checkpointed(path, topic, offset):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"0\n1\n{topic} 1 {offset}\n")


@pytest.mark.points(6, task=2)
def test_everything(manager_of, changelog_of, store_of):
    """Eight records, in their order, to the partition of the task"""
    changelog = changelog_of(PAIRS)
    seen = []
    assign = changelog.assign
    changelog.assign = lambda partitions: (seen.extend(partitions), assign(partitions))
    found = restored(manager_of(changelog), store_of())
    assert found == PAIRS, f"all eight records, in order; {len(found)} were restored"
    assert seen == [TopicPartition("app-counts-changelog", 1)], (
        f"task 0_1 reads partition 1 of the changelog, not {seen}"
    )
    assert changelog.assigned is None, "unsubscribe afterwards: the thread has one restore consumer for all tasks"


@pytest.mark.points(2, task=2)
def test_without_a_changelog(manager_of, changelog_of, store_of):
    """Such a store stays empty"""
    changelog = changelog_of(PAIRS)
    try:
        found = restored(manager_of(changelog), store_of("unlogged"))
    except KeyError as error:
        pytest.fail(f"a store without an entry in _changelogs has no changelog: leave it as it is; KeyError({error})")
    assert found == [], f"the store has no changelog, so nothing can be restored; yours restored {found}"
    assert changelog.calls == [], f"a store without a changelog needs no consumer; you called {changelog.calls}"


@pytest.mark.points(5, task=2)
def test_up_to_the_end_at_the_beginning(manager_of, changelog_of, store_of):
    """A table's topic grows while it is read"""
    changelog = changelog_of(PAIRS, while_reading=[(b"new", b"%d" % number) for number in range(50)])
    manager = manager_of(changelog, [TopicPartition("users", 1)])
    found = restored(manager, store_of("table"))
    assert changelog.calls.count("end_offsets") == 1, "ask for the end once: a topic that grows would never be done"
    assert len(found) == 8, f"the end was 8, so 8 records are restored; yours restored {len(found)}"


@pytest.mark.points(6, task=2)
def test_up_to_the_committed_offset(manager_of, changelog_of, store_of):
    """The table's source has the committed offset 5"""
    users = TopicPartition("users", 1)
    manager = manager_of(changelog_of(PAIRS), [users])
    manager.put_offset_limit(users, 5)
    found = restored(manager, store_of("table"))
    assert len(found) == 5, f"offsets 5, 6 and 7 come as records later: restore 0 to 4, 5 records, not {len(found)}"
    assert manager._restored_offsets == {users: 5}, (
        f"the next offset is noted, the limit 5, though the consumer has read on; yours is {manager._restored_offsets}"
    )
    for limit, so_many in ((0, 0), (20, 8)):
        manager.put_offset_limit(users, limit)
        found = restored(manager, store_of("table"))
        assert len(found) == so_many, (
            f"the log ends at 8, the committed offset is {limit}: restore {so_many} records, not {len(found)}"
        )


@pytest.mark.points(2, task=2)
def test_a_record_without_a_key(manager_of, changelog_of, store_of):
    """A table's topic may have such records"""
    pairs = [(b"a", b"1"), (None, b"2"), (b"b", b"3")]
    found = restored(manager_of(changelog_of(pairs)), store_of())
    assert found == [pairs[0], pairs[2]], f"a store has no place for a record without a key: leave it out; not {found}"
    pairs = [(b"a", b"1"), (b"a", None), (b"", b"2")]
    found = restored(manager_of(changelog_of(pairs), lock_retries=0), store_of())
    assert found == pairs, f"but a deletion is restored, and so is an empty key, which is a key; not {found}"


@pytest.mark.points(3, task=2)
def test_from_the_checkpoint(manager_of, changelog_of, store_of, checkpoint_file):
    """Only a persistent store begins there"""
    checkpointed(checkpoint_file, "app-counts-changelog", 6)
    found = restored(manager_of(changelog_of(PAIRS)), store_of(persistent=True))
    assert found == PAIRS[6:], (
        f"a persistent store has everything below its checkpoint, 6: restore 6 and 7; not {found}"
    )


@pytest.mark.points(2, task=2)
def test_a_checkpoint_in_memory(manager_of, changelog_of, store_of, checkpoint_file):
    """A store in memory has none"""
    checkpointed(checkpoint_file, "app-counts-changelog", 6)
    found = restored(manager_of(changelog_of(PAIRS)), store_of(persistent=False))
    assert found == PAIRS, f"a store in memory is empty: restore all 8 records, not {len(found)}"


@pytest.mark.points(2, task=2)
def test_a_checkpoint_behind_the_end(manager_of, changelog_of, store_of, checkpoint_file):
    """The changelog was deleted and created anew"""
    checkpointed(checkpoint_file, "app-counts-changelog", 9)
    changelog = changelog_of(PAIRS)
    rule = "the checkpoint is 9 and the log ends at 8: the store cannot be right"
    must_raise(OffsetOutOfRangeError, rule, restored, manager_of(changelog), store_of(persistent=True))
    assert changelog.assigned is None, "unsubscribe also after an error (finally)"


@pytest.mark.points(2, task=2)
def test_a_checkpoint_at_the_end(manager_of, changelog_of, store_of, checkpoint_file):
    """Nothing is missing"""
    checkpointed(checkpoint_file, "app-counts-changelog", 8)
    try:
        found = restored(manager_of(changelog_of(PAIRS)), store_of(persistent=True))
    except OffsetOutOfRangeError as error:
        pytest.fail(
            f"the checkpoint is the next offset: 8 is right where the log ends at 8, nothing is missing; {error}"
        )
    assert found == [], f"the checkpoint is 8, where the log ends: nothing is to be restored, not {found}"


@pytest.mark.points(2, task=2)
@pytest.mark.parametrize("persistent", [True, False])
def test_after_a_standby_task(manager_of, changelog_of, store_of, checkpoint_file, persistent):
    """It has kept the store up to date"""
    checkpointed(checkpoint_file, "app-counts-changelog", 3)
    positions = {TopicPartition("app-counts-changelog", 1): 6}
    found = restored(manager_of(changelog_of(PAIRS), standby_positions=positions), store_of(persistent=persistent))
    assert found == PAIRS[6:], (
        f"a standby task has come to 6, whatever the checkpoint and the kind of store are: 6 and 7, not {found}"
    )


@pytest.mark.points(1, task=2)
def test_a_partition_that_is_not_there(manager_of, changelog_of, store_of):
    """The changelog has one partition, the task needs the second"""
    changelog = changelog_of(PAIRS)
    changelog.partitions = 1
    rule = "the changelog has no partition 1: wait for it, and give up in the end"
    must_raise(StreamsError, rule, restored, manager_of(changelog), store_of())
    assert changelog.assigned is None, "wait before you assign: the consumer has a partition that does not exist"
    rule = "the checkpoint has this name, and the store's folder would take its place"
    must_raise(ValueError, rule, restored, manager_of(changelog_of(PAIRS), lock_retries=0), store_of(".checkpoint"))
