"""A follower's log, turn by turn: truncated, filled, emptied. Without threads and sockets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from kafka_lite.clients.abstract_fetcher_thread import PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import UnexpectedAppendOffsetError
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.quotas.replication_quota_manager import ReplicationQuotaManager, ReplicationType
from kafka_lite.server.replication.leader_end_point import (
    EpochEnd,
    FetchPosition,
    ReplicaFetchRequest,
    ReplicaPartitionData,
)
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread

TP = TopicPartition("orders", 0)
FOLLOWER, LEADER = 1, 2
NEWEST = list(ApiVersion)[-1]
LAST_THAT_ASKS_FIRST = ApiVersion.KAFKA_2_7_IV0
"""The last protocol whose followers ask for the ends of epochs before they fetch."""


def records(*values: str) -> bytes:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    for value in values:
        builder.append(1, None, value.encode())
    return builder.build()


def values(log: Log) -> list[str]:
    found = log.read(log.log_start_offset, 1 << 20).records
    payload = found if isinstance(found, bytes) else found.to_bytes()  # type: ignore[union-attr]
    return [record.value.decode() for batch in FetchedRecords(payload).batches() for record in batch.records()]


class Leader:
    """The leader's end of the connection, over a log of its own. ``failures`` are raised first, one a call."""

    def __init__(self, log: Log, partition: Partition) -> None:
        self.log = log
        self.partition = partition
        self.high_watermark = 0
        self.max_bytes = 1 << 20
        self.error = Errors.NONE
        self.failures: list[Exception] = []
        self.asked: list[dict[TopicPartition, tuple[int, int]]] = []
        self.fetched: list[int] = []
        self.positions: list[FetchPosition] = []
        self.before_epochs: Callable[[], None] = lambda: None

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)

    def fetch(self, request: ReplicaFetchRequest) -> list[tuple[TopicPartition, ReplicaPartitionData]]:
        self._fail()
        offset = request.offset(TP)
        self.fetched.append(offset)
        self.positions.append(request.positions[TP])
        error, start = self.error, self.log.log_start_offset
        if not start <= offset <= self.log.log_end_offset and request.positions[TP].last_fetched_epoch < 0:
            error = Errors.OFFSET_OUT_OF_RANGE
        diverging = None
        try:
            parted = self.partition.diverging_epoch(self.log, request.positions[TP].last_fetched_epoch, offset)
            diverging = EpochEnd(Errors.NONE, *parted) if parted is not None else None
        except ApiError as failure:
            error = failure.error
        has_records = error is Errors.NONE and diverging is None
        found = self.log.read(offset, self.max_bytes).records if has_records else b""
        payload = found if isinstance(found, bytes) else found.to_bytes()  # type: ignore[union-attr]
        return [(TP, ReplicaPartitionData(error, self.high_watermark, start, FetchedRecords(payload), diverging))]

    def latest_offset(self, partition: TopicPartition) -> int:
        return self.log.log_end_offset

    def earliest_offset(self, partition: TopicPartition) -> int:
        return self.log.log_start_offset

    def epoch_ends(self, epochs: Mapping[TopicPartition, tuple[int, int]]) -> dict[TopicPartition, EpochEnd]:
        self._fail()
        self.asked.append(dict(epochs))
        self.before_epochs()
        return {tp: EpochEnd(self.error, *self.log.end_offset_for_epoch(asked)) for tp, (_, asked) in epochs.items()}

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


class Follower:
    """A partition that follows ``leader``, and its fetcher."""

    def __init__(self, folder: Path, protocol: ApiVersion = NEWEST) -> None:
        self.time = MockTime()
        scheduler = MockScheduler(self.time)
        (folder / "leader").mkdir(parents=True)
        (folder / "follower").mkdir()
        self.logs = LogManager([folder / "follower"], {}, LogConfig(), scheduler, self.time)
        self.logs.startup()
        self.partition = Partition(
            TP,
            FOLLOWER,
            lambda tp: self.logs.get_or_create_log(tp, LogConfig()),
            lambda _: 0,
            lambda *_: None,
            self.time,
        )
        self.leader = Leader(Log(folder / "leader" / str(TP), LogConfig(), 0, scheduler, self.time), self.partition)
        self.quota = ReplicationQuotaManager(ReplicationType.FOLLOWER, MetricConfig(11, 1000), self.time)
        self.fetcher = ReplicaFetcherThread(
            "fetcher",
            BrokerEndPoint(LEADER, "h", 9092),
            ReplicaFetchConfig(FOLLOWER, protocol, backoff_ms=100),
            self.leader,
            {TP: self.partition}.get,
            self.logs,
            registry=MetricsRegistry(),
            time=self.time,
            quota=self.quota,
        )

    @property
    def log(self) -> Log:
        assert self.partition.log is not None
        return self.partition.log

    @property
    def high_watermark(self) -> int:
        replica = self.partition.get_replica()
        assert replica is not None
        return replica.high_watermark.message_offset

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        replica = self.partition.get_replica()
        assert replica is not None
        replica.high_watermark = LogOffsetMetadata(offset)

    def follow(self, epoch: int) -> None:
        """Follow this epoch of the leader, from the log end offset on."""
        self.fetcher.remove_partitions([TP])
        self.partition.make_follower(PartitionState(1, LEADER, epoch, [LEADER], 0, [LEADER, FOLLOWER]))
        self.fetcher.add_partitions({TP: self.log.log_end_offset})

    def had(self, epoch: int, *messages: str) -> None:
        """Messages that the follower has from an earlier leader."""
        if self.partition.log is None:
            self.partition.make_follower(PartitionState(1, LEADER, 0, [LEADER], 0, [LEADER, FOLLOWER]))
        for message in messages:
            self.log.append_as_leader(records(message), epoch)

    def leads(self, epoch: int, *messages: str) -> None:
        """Messages that the leader has."""
        for message in messages:
            self.leader.log.append_as_leader(records(message), epoch)

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self.fetcher.do_work()


@pytest.fixture
def follower(tmp_path: Path) -> Iterator[Follower]:
    """It asks for the ends of epochs before it fetches."""
    follower = Follower(tmp_path, LAST_THAT_ASKS_FIRST)
    yield follower
    follower.logs.shutdown()
    follower.leader.log.close()


@pytest.fixture
def comparing(tmp_path: Path) -> Iterator[Follower]:
    """Its leader compares the logs when it is fetched from."""
    follower = Follower(tmp_path)
    yield follower
    follower.logs.shutdown()
    follower.leader.log.close()


def test_records_are_appended_with_the_leaders_offsets_and_epochs(follower: Follower) -> None:
    follower.leads(0, "a", "b")
    follower.leads(1, "c")
    follower.follow(1)
    follower.turn()
    assert values(follower.log) == ["a", "b", "c"]
    assert follower.log.latest_epoch == 1
    assert follower.log.end_offset_for_epoch(0) == follower.leader.log.end_offset_for_epoch(0)


def test_the_high_watermark_is_the_leaders_limited_to_the_log(follower: Follower) -> None:
    follower.leads(0, "a", "b")
    follower.leader.high_watermark = 1
    follower.follow(0)
    follower.turn()
    assert follower.high_watermark == 1
    follower.leader.high_watermark = 2
    follower.turn()
    assert follower.high_watermark == 2
    follower.leads(0, "c", "d")
    follower.leader.high_watermark = 4
    follower.leader.max_bytes = 100  # one batch at a time
    follower.turn()
    assert (follower.high_watermark, follower.log.log_end_offset) == (3, 3)


def test_the_log_is_truncated_where_it_diverges_and_not_at_the_high_watermark(follower: Follower) -> None:
    """KIP-101: with the high watermark alone, "b" would be lost if the leader failed before the next fetch."""
    follower.had(0, "a", "b", "never committed")
    follower.leads(0, "a", "b")
    follower.leads(1, "c")
    follower.high_watermark = 1
    follower.follow(1)
    follower.turn()
    assert follower.leader.asked == [{TP: (1, 0)}]
    assert follower.leader.fetched == [2], "b was not fetched again"
    assert values(follower.log) == ["a", "b", "c"]


def test_logs_that_diverge_twice_are_compared_epoch_by_epoch(follower: Follower) -> None:
    """KIP-279: both were leaders in turn, and neither has the other's epochs."""
    follower.had(0, "a")
    follower.had(2, "x", "y")
    follower.leads(0, "a")
    follower.leads(1, "b")
    follower.leads(3, "c")
    follower.follow(3)
    follower.turn(2)
    assert [asked[TP] for asked in follower.leader.asked] == [(3, 2), (3, 0)]
    assert values(follower.log) == ["a", "b", "c"]


def test_truncation_takes_the_high_watermark_back(follower: Follower) -> None:
    follower.had(0, "a", "b")
    follower.leads(0, "a")
    follower.leads(1, "c")
    follower.high_watermark = 2
    follower.leader.before_epochs = lambda: follower.leader.failures.append(ConnectionError("no response to the fetch"))
    follower.follow(1)
    follower.turn()
    assert (follower.log.log_end_offset, follower.high_watermark) == (1, 1)


def test_a_log_without_epochs_is_truncated_at_the_high_watermark(follower: Follower) -> None:
    follower.had(-1, "a", "b")
    follower.high_watermark = 1
    follower.leads(0, "a", "c")
    follower.follow(0)
    follower.turn()
    assert follower.leader.asked == []
    assert values(follower.log) == ["a", "c"]


def test_epochs_are_not_requested_from_a_leader_of_0_10(tmp_path: Path) -> None:
    follower = Follower(tmp_path, ApiVersion.parse("0.10.2"))
    follower.had(0, "a")
    follower.leads(0, "a", "b")
    follower.follow(1)
    follower.turn()
    assert follower.leader.asked == []
    assert values(follower.log) == ["a", "b"]
    follower.logs.shutdown()
    follower.leader.log.close()


def test_nothing_is_fetched_before_the_log_is_truncated(follower: Follower) -> None:
    follower.had(0, "a")
    follower.leads(0, "a", "b")
    follower.leader.failures = [ConnectionError("no response")]
    follower.follow(0)
    follower.turn()
    assert follower.leader.fetched == []
    follower.time.sleep(100)
    follower.turn()
    assert values(follower.log) == ["a", "b"]


def test_an_epoch_that_the_leader_does_not_return_is_requested_again_later(follower: Follower) -> None:
    follower.had(0, "a")
    follower.leads(0, "a")
    follower.leader.error = Errors.NOT_LEADER_OR_FOLLOWER
    follower.follow(0)
    follower.turn()
    assert (len(follower.leader.asked), follower.leader.fetched) == (1, [])
    follower.leader.error = Errors.NONE
    follower.time.sleep(100)
    follower.turn()
    assert (len(follower.leader.asked), follower.leader.fetched) == (2, [1])


def test_a_leader_without_a_usable_response_is_left_alone_for_the_backoff(follower: Follower) -> None:
    """Even if the thread does not pause, as it has other partitions to fetch."""
    follower.had(0, "a")
    follower.leader.failures = [ConnectionError("no response"), ConnectionError("no response")]
    follower.follow(0)
    follower.fetcher._maybe_truncate()
    follower.fetcher._maybe_truncate()
    assert len(follower.leader.failures) == 1
    follower.leader.failures, follower.leader.error = [], Errors.NOT_LEADER_OR_FOLLOWER
    follower.time.sleep(100)
    follower.fetcher._maybe_truncate()
    follower.fetcher._maybe_truncate()
    assert len(follower.leader.asked) == 1


def test_a_late_response_for_an_epoch_truncates_nothing(follower: Follower) -> None:
    """Between the request and its response, the partition got another leader epoch, and with it another log."""
    follower.had(0, "a", "b")
    follower.leads(0, "a")

    def another_epoch() -> None:
        follower.leader.before_epochs = lambda: None
        follower.leads(0, "b")
        follower.follow(1)

    follower.leader.before_epochs = another_epoch
    follower.follow(0)
    follower.turn(2)
    assert [asked[TP] for asked in follower.leader.asked] == [(0, 0), (1, 0)]
    assert values(follower.log) == ["a", "b"]


def test_a_log_is_not_truncated_once_its_partition_is_removed(follower: Follower) -> None:
    follower.had(0, "a", "b")
    follower.leads(0, "a")
    follower.follow(0)
    follower.leader.before_epochs = lambda: follower.fetcher.remove_partitions([TP])
    follower.turn()
    assert values(follower.log) == ["a", "b"]


def test_a_partition_that_is_fetched_already_is_not_truncated_again(follower: Follower) -> None:
    follower.had(0, "a")
    follower.leads(0, "a", "b")
    follower.follow(0)
    follower.turn()
    follower.fetcher.add_partitions({TP: 2})
    follower.turn()
    assert len(follower.leader.asked) == 1


def test_records_that_do_not_continue_the_log_are_refused(follower: Follower) -> None:
    follower.leads(0, "a")
    follower.follow(0)
    follower.turn()
    data = ReplicaPartitionData(Errors.NONE, 0, 0, FetchedRecords(b""))
    with pytest.raises(RuntimeError, match="Offset mismatch"):
        follower.fetcher.process_partition_data(TP, 0, data)


def test_a_log_beyond_the_leaders_end_is_truncated_there(follower: Follower) -> None:
    """After an unclean election, or with a leader that does not know epochs."""
    follower.leads(0, "a", "b", "c")
    follower.follow(0)
    follower.turn()
    follower.high_watermark = 3
    follower.leader.log.truncate_to(1)
    follower.turn()
    assert (values(follower.log), follower.high_watermark) == (["a"], 1)
    follower.leads(1, "d")
    follower.turn()
    assert values(follower.log) == ["a", "d"]


def test_a_log_that_ends_below_the_leaders_start_is_emptied(follower: Follower) -> None:
    follower.leads(0, "a", "b", "c")
    follower.follow(0)
    follower.turn()
    follower.leads(0, "d", "e", "f")
    follower.leader.log.truncate_fully_and_start_at(10)
    follower.leads(1, "g")
    follower.turn(2)
    assert (follower.log.log_start_offset, values(follower.log)) == (10, ["g"])


def test_a_log_that_ends_where_the_leaders_starts_is_kept(follower: Follower) -> None:
    follower.leads(0, "a", "b")
    follower.follow(0)
    follower.turn()
    follower.leader.log.maybe_increment_log_start_offset(2)
    assert follower.fetcher.handle_offset_out_of_range(TP) == 2
    assert values(follower.log) == ["a", "b"]


def test_a_batch_that_overlaps_the_end_of_a_log_with_records_is_refused(follower: Follower) -> None:
    """Only an empty log may begin within a batch."""
    follower.leads(0, "a", "b")
    follower.follow(0)
    follower.turn()
    batch = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=1)
    for value in (b"x", b"y"):
        batch.append(1, None, value)
    data = ReplicaPartitionData(Errors.NONE, 0, 0, FetchedRecords(batch.build()))
    with pytest.raises(UnexpectedAppendOffsetError):
        follower.fetcher.process_partition_data(TP, 2, data)
    assert values(follower.log) == ["a", "b"]


def test_the_leader_learns_where_the_followers_log_starts_and_its_leader_epoch(follower: Follower) -> None:
    follower.leads(0, "a", "b", "c")
    follower.follow(4)
    follower.turn()
    follower.log.maybe_increment_log_start_offset(2)
    follower.turn()
    assert follower.leader.positions == [FetchPosition(0, 0, 4), FetchPosition(3, 2, 4)]


def test_the_log_start_offset_follows_the_leaders(follower: Follower) -> None:
    follower.leads(0, "a", "b", "c")
    follower.follow(0)
    follower.turn()
    follower.leader.log.maybe_increment_log_start_offset(2)
    follower.turn()
    assert follower.log.log_start_offset == 2


def test_a_partition_with_an_error_is_delayed_by_the_backoff(follower: Follower) -> None:
    follower.leads(0, "a")
    follower.leader.error = Errors.NOT_LEADER_OR_FOLLOWER
    follower.follow(0)
    follower.turn()
    follower.leader.error = Errors.NONE
    follower.turn()
    assert follower.leader.fetched == [0]
    follower.time.sleep(100)
    follower.turn()
    assert values(follower.log) == ["a"]


def test_a_throttled_partition_is_not_fetched_while_the_quota_is_used_up(follower: Follower) -> None:
    follower.leads(0, *(f"{number}" for number in range(20)))
    follower.leader.high_watermark = 20
    follower.leader.max_bytes = 100  # one batch at a time
    follower.quota.mark_throttled(TP.topic, [TP.partition])
    follower.quota.update_quota(50)
    follower.follow(0)
    follower.turn()
    assert follower.log.log_end_offset == 1
    asked = len(follower.leader.fetched)
    follower.turn()  # only backs off
    assert len(follower.leader.fetched) == asked
    follower.time.sleep(2_000)
    follower.turn()
    assert follower.log.log_end_offset == 2


def test_a_throttled_partition_that_is_in_sync_is_fetched(follower: Follower) -> None:
    follower.leads(0, "a")
    follower.leader.high_watermark = 1
    follower.quota.mark_throttled(TP.topic)
    follower.quota.update_quota(1)
    follower.follow(0)
    follower.turn()
    follower.leads(0, "b")
    follower.turn()
    assert values(follower.log) == ["a", "b"]
    assert follower.quota.is_quota_exceeded


def test_a_partition_that_is_not_throttled_uses_no_quota(follower: Follower) -> None:
    follower.leads(0, "a")
    follower.quota.mark_throttled("another topic")
    follower.follow(0)
    follower.turn()
    assert follower.quota.byte_rate == 0


class TestTruncationOnFetch:
    """KIP-595: the leader says in the response to a fetch where the logs diverge."""

    def test_the_log_is_truncated_without_another_request(self, comparing: Follower) -> None:
        comparing.had(0, "a", "b", "never committed")
        comparing.leads(0, "a", "b")
        comparing.leads(1, "c")
        comparing.high_watermark = 1
        comparing.follow(1)
        comparing.turn(2)
        assert comparing.leader.asked == []
        assert [(each.fetch_offset, each.last_fetched_epoch) for each in comparing.leader.positions] == [(3, 0), (2, 0)]
        assert values(comparing.log) == ["a", "b", "c"]

    def test_logs_that_diverge_twice_are_compared_epoch_by_epoch(self, comparing: Follower) -> None:
        comparing.had(0, "a")
        comparing.had(2, "x", "y")
        comparing.leads(0, "a")
        comparing.leads(1, "b")
        comparing.leads(3, "c")
        comparing.follow(3)
        comparing.turn(2)
        assert [each.last_fetched_epoch for each in comparing.leader.positions] == [2, 0]
        assert values(comparing.log) == ["a", "b", "c"]

    def test_truncation_takes_the_high_watermark_back(self, comparing: Follower) -> None:
        comparing.had(0, "a", "b")
        comparing.leads(0, "a")
        comparing.leads(1, "c")
        comparing.high_watermark = 2
        comparing.follow(1)
        comparing.turn()
        assert (comparing.log.log_end_offset, comparing.high_watermark) == (1, 1)

    def test_a_response_that_diverges_changes_neither_high_watermark_nor_start(self, comparing: Follower) -> None:
        comparing.had(0, "a", "b", "c")
        comparing.leads(0, "a", "b")
        comparing.leads(1, "d")
        comparing.leader.log.maybe_increment_log_start_offset(1)
        comparing.leader.high_watermark = 3
        comparing.follow(1)
        comparing.turn()
        assert (comparing.log.log_start_offset, comparing.high_watermark) == (0, 0)

    def test_a_log_without_epochs_is_truncated_at_the_high_watermark(self, comparing: Follower) -> None:
        comparing.had(-1, "a", "b")
        comparing.high_watermark = 1
        comparing.leads(0, "a", "c")
        comparing.follow(0)
        comparing.turn()
        assert values(comparing.log) == ["a", "c"]

    def test_a_leader_without_epochs_is_asked_once_and_then_fetched_from(self, comparing: Follower) -> None:
        """It writes message format v1, which has no epochs. Kafka's followers of 2.7 ask it forever."""
        comparing.had(0, "a", "b")
        comparing.high_watermark = 1
        comparing.leads(-1, "a", "c")
        comparing.follow(0)
        comparing.turn(3)
        assert [each.last_fetched_epoch for each in comparing.leader.positions[:2]] == [0, -1]
        assert values(comparing.log) == ["a", "c"]

    def test_a_late_response_to_a_partition_that_must_be_truncated_first_is_dropped(self, comparing: Follower) -> None:
        comparing.had(-1, "a", "b")
        comparing.follow(0)
        late = ReplicaPartitionData(Errors.NONE, 5, 0, FetchedRecords(records("c")))
        assert comparing.fetcher.process_response(TP, PartitionFetchState(2), late)
        assert values(comparing.log) == ["a", "b"]

    def test_before_protocol_2_7_the_leader_is_not_told_the_last_epoch(self, follower: Follower) -> None:
        follower.had(0, "a")
        follower.leads(0, "a", "b")
        follower.follow(0)
        follower.turn()
        assert follower.leader.positions[0].last_fetched_epoch == -1


def test_a_moved_high_watermark_is_told_once_and_without_the_lock(comparing: Follower) -> None:
    """Consumers that read from this follower may wait for it."""
    told: list[tuple[TopicPartition, int]] = []
    lock = comparing.fetcher._partition_map_cond

    def tell(partition: TopicPartition) -> None:
        other = threading.Thread(target=lambda: lock.acquire(timeout=5) and lock.release())
        other.start()
        other.join()
        told.append((partition, comparing.high_watermark))

    comparing.fetcher._on_high_watermark = tell
    comparing.leads(1, "a", "b")
    comparing.leader.high_watermark = 2
    comparing.follow(1)
    comparing.turn(3)
    assert told == [(TP, 2)]
