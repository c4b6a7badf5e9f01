"""One batch is in flight, others wait, and what was refused is undone with all that was decided after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.offsets_log import AppendResult
from kafka_lite.coordinator.share.shard_writer import Records, ShardWriter, Write
from tests.support.groups import Appended


class Writing:
    """A writer, the appends that have not ended, and what was told."""

    def __init__(self, *, lingers: bool = False) -> None:
        self.appends: list[tuple[Records, Callable[[AppendResult], None]]] = []
        self.lingering: list[Callable[[], None]] = []
        self.told: list[tuple[str, Errors, int]] = []
        self.undone: list[str] = []
        append: Callable[[Records, Callable[[AppendResult], None]], None] = lambda *each: self.appends.append(each)  # noqa: E731
        self.writer = ShardWriter(append, self.lingering.append if lingers else None)

    def write(self, name: str, number: int = 1) -> None:
        records: Records = [(name.encode(), b"")] * number
        undo = lambda: self.undone.append(name)  # noqa: E731
        self.writer.write(Write(records, undo, lambda error, offset: self.told.append((name, error, offset))))

    def end(self, error: Errors = Errors.NONE, base_offset: int = 100) -> None:
        _, on_appended = self.appends.pop(0)
        on_appended(Appended(error, base_offset))

    @property
    def in_flight(self) -> list[str]:
        return [b"".join(key for key, _ in records).decode() for records, _ in self.appends]


def test_one_batch_is_in_flight_and_the_others_go_together() -> None:
    writing = Writing()
    for name in "abc":
        writing.write(name)
    assert writing.in_flight == ["a"]
    writing.end()
    assert writing.told == [("a", Errors.NONE, 100)]
    assert writing.in_flight == ["bc"]
    writing.end(base_offset=101)
    assert writing.told[1:] == [("b", Errors.NONE, 101), ("c", Errors.NONE, 102)]


def test_a_read_is_told_at_once_if_nothing_is_in_flight() -> None:
    writing = Writing()
    writing.write("r", 0)
    assert writing.told == [("r", Errors.NONE, -1)]
    assert not writing.appends


def test_a_read_waits_for_what_it_has_seen() -> None:
    writing = Writing()
    writing.write("a")
    writing.write("r", 0)
    assert not writing.told
    writing.end()
    assert writing.told == [("r", Errors.NONE, -1), ("a", Errors.NONE, 100)]
    assert not writing.appends


def test_a_refused_batch_is_undone_with_all_that_followed() -> None:
    writing = Writing()
    for name in "abc":
        writing.write(name)
    writing.end(Errors.NOT_ENOUGH_REPLICAS, base_offset=-1)
    assert writing.undone == ["c", "b", "a"]
    assert writing.told == [(name, Errors.COORDINATOR_NOT_AVAILABLE, -1) for name in "abc"]
    assert not writing.appends


def test_a_batch_that_the_followers_do_not_have_yet_is_not_undone() -> None:
    writing = Writing()
    writing.write("a")
    writing.write("b")
    writing.end(Errors.REQUEST_TIMED_OUT, base_offset=7)
    assert writing.undone == []
    assert writing.told == [("a", Errors.COORDINATOR_NOT_AVAILABLE, 7)]
    assert writing.in_flight == ["b"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_errors_are_those_of_a_coordinator(error: Errors, told: Errors) -> None:
    writing = Writing()
    writing.write("a")
    writing.end(error, base_offset=-1)
    assert writing.told == [("a", told, -1)]


def test_writes_that_linger_go_together() -> None:
    writing = Writing(lingers=True)
    writing.write("a")
    writing.write("b")
    assert not writing.appends
    writing.lingering.pop()()
    assert writing.in_flight == ["ab"]
    writing.write("c")
    assert not writing.lingering
    writing.end()
    assert writing.in_flight == ["c"]


def test_a_writer_that_is_closed_tells_all_and_ignores_the_append() -> None:
    writing = Writing()
    writing.write("a")
    writing.write("b")
    writing.writer.close(Errors.NOT_COORDINATOR)
    assert writing.told == [("a", Errors.NOT_COORDINATOR, -1), ("b", Errors.NOT_COORDINATOR, -1)]
    writing.end()
    assert len(writing.told) == 2


def test_a_writer_that_is_closed_while_it_lingers_sends_nothing() -> None:
    writing = Writing(lingers=True)
    writing.write("a")
    writing.writer.close(Errors.NOT_COORDINATOR)
    writing.lingering.pop()()
    assert not writing.appends


def test_batches_do_not_grow_without_end() -> None:
    writing = Writing()
    for _ in range(701):
        writing.write("a")
    writing.end()
    assert [len(names) for names in writing.in_flight] == [500]
    writing.end()
    assert [len(names) for names in writing.in_flight] == [200]
