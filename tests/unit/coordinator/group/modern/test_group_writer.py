"""Changes of a group on their way into the log."""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.group_writer import GroupWriter, Records
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.coordinator.group.offsets_log import AppendResult
from tests.support.groups import Appended


class Writing:
    """A writer, and the appends that have not ended."""

    def __init__(self) -> None:
        self.group = ConsumerGroup("g")
        self.appends: list[tuple[Records, Callable[[AppendResult], None]]] = []
        self.writer = GroupWriter(lambda records, on_written: self.appends.append((records, on_written)))
        self.told: list[tuple[str, Errors]] = []

    def write(self, name: str, epochs: int = 1) -> None:
        change = GroupChange(self.group)
        for _ in range(epochs):
            change.add(group_records.group_epoch("g", self.group.group_epoch + 1, 0))
        self.writer.write(change, lambda error: self.told.append((name, error)))

    def end(self, error: Errors = Errors.NONE, base_offset: int = 0) -> None:
        _, on_written = self.appends.pop(0)
        on_written(Appended(error, base_offset))


def test_one_batch_is_in_flight_and_the_others_wait_together() -> None:
    writing = Writing()
    for name in "abc":
        writing.write(name)
    assert [len(records) for records, _ in writing.appends] == [1]
    writing.end()
    assert writing.told == [("a", Errors.NONE)]
    assert [len(records) for records, _ in writing.appends] == [2]
    writing.end()
    assert writing.told == [(name, Errors.NONE) for name in "abc"]
    assert writing.writer.is_idle


def test_batches_do_not_grow_without_end() -> None:
    writing = Writing()
    for name in "abc":
        writing.write(name, epochs=300)
    writing.end()
    assert [len(records) for records, _ in writing.appends] == [300]


def test_an_answer_without_a_change_waits_for_what_it_tells_of() -> None:
    writing = Writing()
    writing.write("unchanged", epochs=0)
    assert writing.told == [("unchanged", Errors.NONE)]
    writing.write("changed")
    writing.write("after it", epochs=0)
    assert len(writing.told) == 1
    writing.end()
    assert [name for name, _ in writing.told] == ["unchanged", "changed", "after it"]


def test_a_refused_change_takes_the_later_ones_with_it() -> None:
    writing = Writing()
    writing.write("kept")
    writing.end()
    for name in "abc":
        writing.write(name)
    writing.end(Errors.NOT_LEADER_OR_FOLLOWER, -1)
    assert writing.told[1:] == [(name, Errors.NOT_COORDINATOR) for name in "abc"]
    assert (writing.group.group_epoch, writing.appends, writing.writer.is_idle) == (1, [], True)


def test_a_change_that_only_some_replicas_have_stays() -> None:
    writing = Writing()
    writing.write("a")
    writing.write("b")
    writing.end(Errors.REQUEST_TIMED_OUT, 7)
    assert writing.told == [("a", Errors.COORDINATOR_NOT_AVAILABLE)]
    assert (writing.group.group_epoch, len(writing.appends)) == (2, 1)


def test_the_records_of_a_classic_group_are_deleted_with_the_first_change() -> None:
    writing = Writing()
    change = GroupChange(writing.group)
    change.others.append((b"classic", None))
    change.add(group_records.group_epoch("g", 1, 0))
    writing.writer.write(change, lambda _: None)
    ((records, _),) = writing.appends
    assert records == [(b"classic", None), encode(group_records.group_epoch("g", 1, 0))]
