"""Task 2: what may be committed."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata


@pytest.mark.points(9, task=2)
def test_all_or_some(books):
    """Put up to 10 and 20, committed up to 4 and 8"""
    books.at(4, 8).put(10, 20)
    found = books.numbers(books.of.committable(books.offsets(10, 20)))
    assert found == [10, 20], f"all that was put may be committed: 10 and 20, not {found}"
    found = books.numbers(books.of.committable(books.offsets(6)))
    assert found == [6, 8], (
        f"the task names partition 0 only: partition 1 stays as it was committed, at 8; yours: {found}"
    )
    assert books.committed == [4, 8], f"nothing is committed before the commit has ended; yours: {books.committed}"


@pytest.mark.points(9, task=2)
def test_what_is_invalid(books):
    """Offsets beyond, and a partition of another task"""
    books.at(4, 8).put(10, 20)
    found = books.numbers(books.of.committable(books.offsets(12, 9)))
    assert found == [4, 9], (
        f"only 10 was put, so ignore 12: commit not beyond what the task was given; 4 and 9, not {found}"
    )
    other = TopicPartition("other", 0)
    found = books.of.committable({other: OffsetAndMetadata(1), **books.offsets(10)})
    assert other not in found, "the partition of another task is ignored"


@pytest.mark.points(7, task=2)
def test_nothing_to_do(books):
    """No offsets, and the same ones"""
    books.at(4, 8).put(10, 20)
    assert books.of.committable({}) is None, "a task that provides nothing wants no commit: None"
    books.at(10, 20)
    assert books.of.committable(books.offsets(10, 20)) is None, "all is committed: a commit would be in vain; None"
