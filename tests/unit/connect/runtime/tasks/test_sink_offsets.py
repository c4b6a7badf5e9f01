import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.runtime.tasks.sink_offsets import SinkOffsets
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
at = OffsetAndMetadata


@pytest.fixture
def offsets() -> SinkOffsets:
    offsets = SinkOffsets()
    offsets.assigned({P0: 10, P1: 20})
    return offsets


def test_offsets_count_once_the_task_has_taken_the_batch(offsets: SinkOffsets) -> None:
    offsets.consumed(P0, 10)
    offsets.consumed(P0, 11)
    assert offsets.current[P0] == at(10)
    offsets.delivered()
    assert offsets.current == {P0: at(12), P1: at(20)}
    offsets.consumed(P1, 20)
    offsets.dropped()
    offsets.delivered()
    assert offsets.current[P1] == at(20)


def test_only_owned_and_delivered_offsets_are_committable(offsets: SinkOffsets) -> None:
    offsets.consumed(P0, 14)
    offsets.delivered()
    provided = {P0: at(15), P1: at(21), TopicPartition("other", 0): at(1)}
    assert offsets.committable(provided) == {P0: at(15), P1: at(20)}
    assert offsets.committable({P0: at(13, "half")}) == {P0: at(13, "half"), P1: at(20)}


def test_nothing_new_is_not_committed(offsets: SinkOffsets) -> None:
    assert offsets.committable({}) is None
    assert offsets.committable(dict(offsets.current)) is None


def test_a_commit_that_succeeds_is_remembered(offsets: SinkOffsets) -> None:
    number = offsets.begin_commit(0)
    assert offsets.committing
    offsets.end_commit(number, None, {P0: at(12)})
    assert (offsets.committing, offsets.committed) == (False, {P0: at(12)})
    number = offsets.begin_commit(0)
    offsets.end_commit(number, None, None)
    assert offsets.committed == {P0: at(12)}


def test_failures_are_counted_until_a_success(offsets: SinkOffsets) -> None:
    for _ in range(2):
        offsets.end_commit(offsets.begin_commit(0), ValueError("no"), None)
    assert (offsets.failures, offsets.committing) == (2, False)
    offsets.end_commit(offsets.begin_commit(0), None, None)
    assert offsets.failures == 0


def test_the_outcome_of_an_overdue_commit_is_ignored(offsets: SinkOffsets) -> None:
    late = offsets.begin_commit(1000)
    assert not offsets.is_overdue(5999, 5000)
    assert offsets.is_overdue(6000, 5000)
    offsets.give_up()
    assert not offsets.is_overdue(7000, 5000)
    current = offsets.begin_commit(7000)
    offsets.end_commit(late, None, {P0: at(99)})
    assert offsets.committing
    assert offsets.committed[P0] == at(10)
    offsets.end_commit(current, None, {P0: at(11)})
    assert (offsets.committed, offsets.failures) == ({P0: at(11)}, 0)


def test_rewinding(offsets: SinkOffsets) -> None:
    offsets.consumed(P0, 14)
    offsets.delivered()
    offsets.rewound(P1, 5)
    assert offsets.rewind_to_committed() == {P0: at(10), P1: at(5)}
    assert offsets.current == {P0: at(10), P1: at(5)}
