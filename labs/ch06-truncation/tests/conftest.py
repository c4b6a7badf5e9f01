"""Epochs without files, and a follower whose leader is a log in the same process."""

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import LeaderEpochCheckpointFile
from kafka_lite.log.leader_epoch_file_cache import LeaderEpochFileCache
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.replication.leader_end_point import ReplicaPartitionData
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread

PARTITION = TopicPartition("demo", 0)
FOLLOWER, LEADER = 1, 2


@pytest.fixture
def epochs(tmp_path):
    """``epochs((1, 0), (4, 35))``: a cache with these epochs and start offsets."""
    made = iter(range(100))

    def make(*entries):
        folder = tmp_path / f"epochs-{next(made)}"
        folder.mkdir()
        cache = LeaderEpochFileCache(PARTITION, LeaderEpochCheckpointFile(folder))
        for epoch, start in entries:
            cache.assign(epoch, start)
        return cache

    return make


@pytest.fixture
def history():
    """``history((1, 0), (2, 20), end=50)``: what a log with these epochs says about the end of an epoch."""

    def make(*entries, end):
        def end_offset_for_epoch(epoch):
            from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry

            known = [entry for entry in entries if entry[0] <= epoch]
            newer = [entry for entry in entries if entry[0] > epoch]
            if epoch < 0 or not entries or epoch > entries[-1][0]:
                return EpochEntry(-1, -1)
            if not known:
                return EpochEntry(-1, -1)
            return EpochEntry(known[-1][0], newer[0][1] if newer else end)

        return end_offset_for_epoch

    return make


class Quota:
    """Limits nothing; ``recorded`` has the bytes of partitions that are throttled."""

    is_quota_exceeded = False

    def __init__(self):
        self.throttled = False
        self.recorded = []

    def is_throttled(self, _partition):
        return self.throttled

    def record(self, size_bytes):
        self.recorded.append(size_bytes)


class Following:
    """Broker 1 follows; ``leader`` is the log of broker 2."""

    def __init__(self, folder):
        self.time = MockTime()
        scheduler = MockScheduler(self.time)
        for name in ("own", "leader"):
            (folder / name).mkdir()
        logs = LogManager([folder / "own"], {}, LogConfig(), scheduler, self.time)
        logs.startup()
        self.leader = Log(folder / "leader" / str(PARTITION), LogConfig(), 0, scheduler, self.time)
        self.partition = Partition(
            PARTITION, FOLLOWER, lambda tp: logs.get_or_create_log(tp, LogConfig()), lambda _: 0, lambda *_: None,
            self.time,
        )  # fmt: skip
        self.partition.make_follower(PartitionState(1, LEADER, 3, [LEADER], 0, [FOLLOWER, LEADER]))
        self.quota = Quota()
        config = ReplicaFetchConfig(FOLLOWER, list(ApiVersion)[-1])
        self.fetcher = ReplicaFetcherThread(
            "fetcher", BrokerEndPoint(LEADER, "h", 9092), config, self, {PARTITION: self.partition}.get, logs,
            registry=MetricsRegistry(), time=self.time, quota=self.quota,
        )  # fmt: skip

    def latest_offset(self, _partition):
        return self.leader.log_end_offset

    def earliest_offset(self, _partition):
        return self.leader.log_start_offset

    def abort(self):
        pass

    def close(self):
        pass

    @property
    def log(self):
        return self.partition.log

    @property
    def high_watermark(self):
        return self.partition.get_replica().high_watermark.message_offset

    @high_watermark.setter
    def high_watermark(self, offset):
        self.partition.get_replica().high_watermark = LogOffsetMetadata(offset)

    def response(self, offset, high_watermark, start=0):
        found = self.leader.read(offset, 1 << 20).records
        payload = found if isinstance(found, bytes) else found.to_bytes()
        return ReplicaPartitionData(Errors.NONE, high_watermark, start, FetchedRecords(payload))

    def process(self, offset, high_watermark, start=0):
        data = self.response(offset, high_watermark, start)
        self.fetcher.process_partition_data(PARTITION, offset, data)

    def out_of_range(self):
        return self.fetcher.handle_offset_out_of_range(PARTITION)


def fill(log, count, epoch=3):
    for _ in range(count):
        records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, b"x")], timestamp=1_000_000)
        log.append_as_leader(bytearray(records), epoch)


@pytest.fixture
def following(tmp_path):
    """A follower and its leader's log, both empty."""
    return Following(tmp_path)


@pytest.fixture
def append():
    """``append(log, count)``."""
    return fill


@pytest.fixture(scope="session")
def broker_settings():
    """A replica that is not in sync may lead if there is no other."""
    return {"unclean.leader.election.enable": "true"}
