"""Fetch requests that wait for records; most of it is tested with the ReplicaManager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.delayed_fetch import (
    REMEMBERED_CHANGES,
    DelayedFetch,
    DelayedFetchPurgatory,
    RecentChanges,
)
from kafka_lite.server.fetch_params import FetchParams, FetchPartition


@pytest.mark.parametrize(("replica_id", "from_follower"), [(-1, False), (2, True)])
def test_a_long_poll_whose_time_is_up_is_counted_and_answered(replica_id: int, from_follower: bool) -> None:
    expired: list[bool] = []
    responses: list[list[Any]] = []
    params = FetchParams(replica_id, 100, 1, 1000, hard_max_bytes=False)
    poll = DelayedFetch(params, {}, lambda _: None, list, responses.append, expired.append)
    poll.run()
    assert (responses, expired) == ([[]], [from_follower])


def led_partition(end: int, stable: int) -> Any:
    """Of 10 bytes for each offset, in one segment."""
    leader = SimpleNamespace(
        log=object(),
        log_end_offset=LogOffsetMetadata(end, 0, 10 * end),
        high_watermark=LogOffsetMetadata(end, 0, 10 * end),
        last_stable_offset=LogOffsetMetadata(stable, 0, 10 * stable),
    )
    return SimpleNamespace(leader_replica_if_local=leader, check_leader_epoch=lambda _epoch: Errors.NONE)


@pytest.mark.parametrize(
    ("min_bytes", "committed_only", "completed"),
    [(100, False, True), (101, False, False), (60, True, True), (61, True, False)],
)
def test_the_bytes_of_all_partitions_up_to_the_readers_end_count(
    min_bytes: int, committed_only: bool, completed: bool
) -> None:
    start = (FetchPartition(0, 1000), LogOffsetMetadata(0, 0, 0))
    params = FetchParams(-1, 100, min_bytes, 1000, hard_max_bytes=False, committed_only=committed_only)
    fetched_at = {TopicPartition("t", number): start for number in (0, 1)}
    poll = DelayedFetch(params, fetched_at, lambda _: led_partition(end=5, stable=3), list, lambda _: None)
    assert poll.try_complete() is completed


def test_a_partition_is_looked_up_by_its_name_and_the_epoch_that_the_client_knows() -> None:
    partition, seen = led_partition(end=5, stable=3), list[object]()
    partition.check_leader_epoch = lambda epoch: (seen.append(epoch), Errors.NONE)[1]
    poll = DelayedFetch(
        FetchParams(-1, 100, 1, 1000, hard_max_bytes=False),
        {TopicPartition("t", 0): (FetchPartition(0, 1000, current_leader_epoch=7), LogOffsetMetadata(0, 0, 0))},
        lambda name: (seen.append(name), partition)[1],
        list,
        lambda _: None,
        should_throttle=lambda throttled: bool(seen.append(throttled)) or True,
    )
    assert not poll.try_complete(), "it has nothing to read while its reader is throttled"
    assert seen == [TopicPartition("t", 0), 7, partition]
    assert poll.delay_ms == 100


def is_done(
    partition: Any,
    position: LogOffsetMetadata,
    *,
    replica_id: int = -1,
    committed_only: bool = False,
    min_bytes: int = 1,
    max_bytes: int = 1000,
    throttled: bool = False,
) -> bool:
    """Whether a fetch that has read up to ``position`` completes."""
    params = FetchParams(replica_id, 100, min_bytes, 1000, hard_max_bytes=False, committed_only=committed_only)
    fetched_at = {TopicPartition("t", 0): (FetchPartition(position.message_offset, max_bytes), position)}
    poll = DelayedFetch(
        params, fetched_at, lambda _: partition, list, lambda _: None, should_throttle=lambda _: throttled
    )
    return poll.try_complete()


def test_a_fetch_whose_client_leaves_completes_without_reading() -> None:
    responses: list[list[Any]] = []
    leave: list[Callable[[], object] | None] = []
    params = FetchParams(-1, 600_000, 1, 1000, hard_max_bytes=False)
    params.when_client_leaves = leave.append
    poll = DelayedFetch(params, {}, lambda _: None, lambda: pytest.fail("it reads"), responses.append)
    (abandon,) = leave
    assert abandon is not None
    abandon()
    abandon()
    assert (responses, poll.is_completed) == ([[]], True)
    assert leave[-1] is None, "nothing refers to the operation any more"


def test_a_client_that_leaves_later_changes_nothing() -> None:
    responses: list[list[Any]] = []
    leave: list[Callable[[], object] | None] = []
    params = FetchParams(-1, 100, 1, 1000, hard_max_bytes=False)
    params.when_client_leaves = leave.append
    found: list[Any] = [(TopicPartition("t", 0), "records")]
    poll = DelayedFetch(params, {}, lambda _: None, lambda: found, responses.append)
    poll.run()
    poll.abandon()
    assert responses == [found]


AT_3, AT_5 = LogOffsetMetadata(3, 0, 30), LogOffsetMetadata(5, 0, 50)


def test_a_fetch_at_the_end_waits_and_one_below_or_beyond_it_does_not() -> None:
    partition = led_partition(end=4, stable=4)
    assert not is_done(partition, LogOffsetMetadata(4, 0, 40))
    assert is_done(partition, AT_3)
    assert is_done(partition, AT_5), "the log was truncated, which the client must learn"


def test_a_reader_of_committed_records_waits_for_the_end_of_a_transaction() -> None:
    partition = led_partition(end=5, stable=3)
    for position in (AT_3, AT_5):
        assert not is_done(partition, position, committed_only=True)
    assert is_done(partition, LogOffsetMetadata(2, 0, 20), committed_only=True)


def test_a_follower_reads_to_the_end_and_a_consumer_to_the_high_watermark() -> None:
    partition = led_partition(end=5, stable=5)
    partition.leader_replica_if_local.high_watermark = AT_3
    assert is_done(partition, AT_3, replica_id=2)
    assert not is_done(partition, AT_3)


def test_a_throttled_follower_waits_whatever_there_is_to_read() -> None:
    assert not is_done(led_partition(end=5, stable=5), AT_3, replica_id=2, throttled=True)


def test_a_partition_counts_up_to_its_own_limit() -> None:
    partition = led_partition(end=5, stable=5)
    assert is_done(partition, AT_3, min_bytes=20, max_bytes=20)
    assert not is_done(partition, AT_3, min_bytes=20, max_bytes=19)


@pytest.mark.parametrize("end", [LogOffsetMetadata(5, 5, 0), LogOffsetMetadata(5)])
def test_a_fetch_below_the_newest_segment_or_an_unknown_position_does_not_wait_for_more(
    end: LogOffsetMetadata,
) -> None:
    partition = led_partition(end=5, stable=5)
    partition.leader_replica_if_local.high_watermark = end
    assert is_done(partition, AT_3, min_bytes=1000)


def test_a_fetch_does_not_wait_for_a_partition_that_is_not_led_here_any_more() -> None:
    no_log, no_leader, other_epoch = (led_partition(end=5, stable=5) for _ in range(3))
    no_log.leader_replica_if_local.log = None
    no_leader.leader_replica_if_local = None
    other_epoch.check_leader_epoch = lambda _epoch: Errors.FENCED_LEADER_EPOCH
    for partition in (None, no_log, no_leader, other_epoch):
        assert is_done(partition, AT_5, min_bytes=1000)


@pytest.mark.parametrize(
    ("epoch", "outcome", "completes"),
    [
        (-1, None, False),
        (0, None, False),
        (0, "diverging", True),
        (1, "diverging", True),
        (4, Errors.OFFSET_OUT_OF_RANGE.exception(), True),
    ],
)
def test_a_follower_whose_log_diverges_learns_of_it(epoch: int, outcome: Any, completes: bool) -> None:
    asked: list[tuple[Any, ...]] = []

    def diverging_epoch(*args: Any) -> Any:
        asked.append(args)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    partition = led_partition(end=5, stable=5)
    partition.diverging_epoch = diverging_epoch
    fetched_at = {TopicPartition("t", 0): (FetchPartition(5, 1000, last_fetched_epoch=epoch), AT_5)}
    params = FetchParams(2, 100, 1, 1000, hard_max_bytes=False)
    poll = DelayedFetch(params, fetched_at, lambda _: partition, list, lambda _: None)
    assert poll.try_complete() is completes
    assert asked == ([(partition.leader_replica_if_local.log, epoch, 5)] if epoch >= 0 else [])


# ---- only what has changed -------------------------------------------------------------------------------------------


class Fetched:
    """A fetch of ``count`` partitions that waits for 100 bytes, in a purgatory; counts the partitions looked at."""

    def __init__(self, count: int) -> None:
        self.partitions = {TopicPartition("t", number): led_partition(end=0, stable=0) for number in range(count)}
        self.looked_at: list[TopicPartition] = []
        self.responses: list[Any] = []
        self.throttled = False
        start = (FetchPartition(0, 1000), LogOffsetMetadata(0, 0, 0))
        self.fetch = DelayedFetch(
            FetchParams(-1, 60_000, 100, 1000, hard_max_bytes=False),
            dict.fromkeys(self.partitions, start),
            self.partition,
            list,
            self.responses.append,
            should_throttle=lambda _: self.throttled,
        )
        self.purgatory = DelayedFetchPurgatory(broker_id=0, purge_interval=1000, time=SYSTEM_TIME)

    def partition(self, topic_partition: TopicPartition) -> Any:
        self.looked_at.append(topic_partition)
        return self.partitions.get(topic_partition)

    def watch(self) -> bool:
        return self.purgatory.try_complete_else_watch(self.fetch, list(self.partitions))

    def grow(self, number: int, end: int) -> list[int]:
        """The log of a partition has grown; returns the partitions that the fetch looked at then."""
        self.looked_at.clear()
        self.partitions[TopicPartition("t", number)] = led_partition(end=end, stable=end)
        self.purgatory.check_and_complete(TopicPartition("t", number))
        return sorted(each.partition for each in self.looked_at)


@pytest.fixture
def new_fetch() -> Iterator[Callable[[int], Fetched]]:
    made: list[Fetched] = []

    def make(count: int) -> Fetched:
        made.append(Fetched(count))
        return made[-1]

    yield make
    for each in made:
        each.purgatory.shutdown()


def test_an_append_costs_a_look_at_its_own_partition(new_fetch: Callable[[int], Fetched]) -> None:
    fetched = new_fetch(1000)
    assert not fetched.watch()
    assert len(fetched.looked_at) == 1000, "the second look of the purgatory is only at what has happened since"
    assert [fetched.grow(7, 1), fetched.grow(8, 4), fetched.grow(7, 5)] == [[7], [8], [7]]
    assert not fetched.responses, "90 bytes"
    assert fetched.grow(9, 1) == [9]
    assert fetched.responses == [[]], "each partition counts once"


def test_a_change_between_the_two_looks_is_not_missed(new_fetch: Callable[[int], Fetched]) -> None:
    fetched = new_fetch(3)
    first_look = fetched.fetch.try_complete

    def grow_after_the_first_look() -> bool:
        completed = first_look()
        fetched.fetch.try_complete = first_look  # type: ignore[method-assign]
        fetched.grow(1, 10)
        return completed

    fetched.fetch.try_complete = grow_after_the_first_look  # type: ignore[method-assign]
    assert fetched.watch()
    assert fetched.looked_at == [TopicPartition("t", 1)]


def test_others_changes_are_passed_over(new_fetch: Callable[[int], Fetched]) -> None:
    fetched = new_fetch(100)
    fetched.watch()
    for number in range(50):
        fetched.purgatory.check_and_complete(TopicPartition("other", number))
    assert fetched.grow(7, 1) == [7]
    for number in range(100):
        fetched.purgatory.check_and_complete(TopicPartition("other", number))
    assert fetched.grow(7, 2) == list(range(100)), "to look at all costs less than to go through more changes"


def test_a_partition_that_is_gone_completes_the_fetch(new_fetch: Callable[[int], Fetched]) -> None:
    fetched = new_fetch(3)
    fetched.watch()
    del fetched.partitions[TopicPartition("t", 2)]
    fetched.purgatory.check_and_complete(TopicPartition("t", 2))
    assert fetched.responses == [[]]


def test_a_throttled_partition_is_looked_at_each_time(new_fetch: Callable[[int], Fetched]) -> None:
    fetched = new_fetch(10)
    fetched.watch()
    fetched.throttled = True
    assert fetched.grow(4, 9) == [4]
    assert fetched.grow(5, 0) == [4, 5]
    fetched.throttled = False
    assert fetched.grow(5, 0) == [4, 5], "90 bytes are there now"
    assert fetched.grow(5, 1) == [5]
    assert fetched.responses == [[]]


def test_the_purgatory_is_that_of_fetches() -> None:
    time = MockTime()
    purgatory = DelayedFetchPurgatory(broker_id=3, purge_interval=7, time=time)
    try:
        assert (purgatory.name, purgatory._purge_interval, purgatory._timer._time) == ("Fetch", 7, time)
        assert purgatory._reaper is not None
        assert purgatory._reaper.name == "ExpirationReaper-3-Fetch"
    finally:
        purgatory.shutdown()


def test_changes_are_remembered_up_to_a_number() -> None:
    changes = RecentChanges()
    assert changes.since(-1, 10**9) == (0, None)
    for number in range(5):
        changes.note(number % 3)
    assert changes.since(5, 10) == (5, set())
    assert changes.since(3, 10) == (5, {0, 1})
    assert changes.since(2, 3) == (5, {0, 1, 2})
    assert changes.since(1, 3) == (5, None)
    for number in range(REMEMBERED_CHANGES):
        changes.note(number)
    assert changes.since(5, 10**9) == (REMEMBERED_CHANGES + 5, set(range(REMEMBERED_CHANGES)))
    assert changes.since(4, 10**9) == (REMEMBERED_CHANGES + 5, None)
