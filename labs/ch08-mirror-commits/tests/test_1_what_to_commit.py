"""Task 1: the offsets of what was returned."""

import pytest

from kafka_lite.consumer.consumer_errors import CommitFailedError
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError


@pytest.mark.points(8, task=1)
def test_in_the_middle_of_a_batch(mirror, kafka):
    """A poll returns 5, 6, 7; two of them are received, then a commit"""
    consumer = kafka([5, 6, 7])
    ours = mirror(consumer)
    received = [ours.receive().offset for _ in range(2)]
    assert received == [5, 6], f"the records in their order: [5, 6], not {received}"
    ours.commit()
    assert consumer.committed == [{"t-0": 7}], (
        f"a commit names the next record: 7, since 6 is the last one received. You commit {consumer.committed}"
    )


@pytest.mark.points(5, task=1)
def test_batch_after_batch(mirror, kafka):
    """Two batches, with an empty poll between them"""
    ours = mirror(kafka([1], [], [2]))
    assert ours.receive().offset == 1
    with pytest.raises(ConsumerTimeoutError):
        ours.receive()
    assert ours.receive().offset == 2, "after the timeout the next poll brings record 2"


@pytest.mark.points(5, task=1)
def test_only_what_is_new(mirror, kafka):
    """t-0 is committed, then only t-1 has a record"""
    consumer = kafka([5, (9, 1)])
    ours = mirror(consumer)
    for _ in range(2):
        ours.receive()
        ours.commit()
    assert consumer.committed == [{"t-0": 6}, {"t-1": 10}], (
        f"each commit has what was received since the last one; t-0 must not be committed again: {consumer.committed}"
    )


@pytest.mark.points(4, task=1)
def test_a_commit_that_fails(mirror, kafka):
    """The first commit is refused"""
    consumer = kafka([5, (9, 1)])
    ours = mirror(consumer)
    ours.receive()
    consumer.refuses = CommitFailedError()
    with pytest.raises(CommitFailedError):
        ours.commit()
    assert ours._committed == {}, f"a commit that was refused is none: _committed is noted after it; {ours._committed}"
    consumer.refuses = None
    ours.receive()
    ours.commit()
    assert consumer.committed == [{"t-0": 6, "t-1": 10}], (
        f"what was not committed is part of the next commit, so clear it after commit_sync: {consumer.committed}"
    )


@pytest.mark.points(3, task=1)
def test_forgotten_partitions(mirror, kafka, zero):
    """t-0 belongs to another member, before it was committed"""
    consumer = kafka([5, (9, 1)])
    ours = mirror(consumer)
    ours.receive()
    ours.receive()
    try:
        ours.forget([zero._replace(topic="other"), zero])
    except KeyError as error:
        pytest.fail(f"a partition without records is forgotten, too, without an error: KeyError {error}")
    ours.commit()
    assert consumer.committed == [{"t-1": 10}], f"t-0 is another member's: {consumer.committed}"
    assert [str(each.topic_partition) for each in ours.progress()] == ["t-1"], "progress does not show t-0 any more"
    ours = mirror(kafka([5]))
    ours.receive()
    ours.commit()
    ours.forget([zero])
    left = ours._committed | ours._ends
    assert left == {}, f"t-0 was committed before it went: forget that and its end as well; left: {left}"
