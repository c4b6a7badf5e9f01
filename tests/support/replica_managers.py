"""A replica manager with real logs, the controller's requests, and what its clients get, without a socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

from kafka_lite.cluster.broker import Broker as ClusterBroker
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.server.fetch_params import ClientMetadata, FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.isr_changes import IsrStore
from kafka_lite.testing.replica_managers import new_replica_manager

TP, TP1 = TopicPartition("orders", 0), TopicPartition("orders", 1)

Produced = dict[TopicPartition, PartitionResponse]
Fetched = list[tuple[TopicPartition, LogReadResult]]


class Broker:
    """A replica manager with its logs, and its responses."""

    def __init__(
        self,
        directory: Path,
        *others: Path,
        properties: Mapping[str, str] | None = None,
        isr_store: IsrStore | None = None,
        **topic_config: object,
    ) -> None:
        self.time = MockTime()
        self.directory = directory
        self.topic_config = {key.replace("_", "."): value for key, value in topic_config.items()}
        basics = {"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": str(directory)}
        config = KafkaConfig({**basics, **(properties or {})})
        self.scheduler = MockScheduler(self.time)
        self.logs = LogManager([directory, *others], {}, LogConfig(), self.scheduler, self.time)
        self.logs.startup()
        self.read_config: Callable[[str], LogConfig] = lambda _: LogConfig(self.topic_config)
        self.metadata_cache = MetadataCache(config.broker_id)
        self.replicas = new_replica_manager(
            config, self.logs, self.scheduler, self.time, isr_store=isr_store, metadata_cache=self.metadata_cache
        )
        self.alive: list[ClusterBroker] = []
        self.state_changes = ReplicaStateChanges(
            self.replicas, lambda topic: self.read_config(topic), lambda: self.alive
        )
        self.replicas.startup()
        self.produced: list[Produced] = []
        self.fetched: list[Fetched] = []

    def lead(
        self,
        *partitions: TopicPartition,
        leader: int = 1,
        epoch: int = 0,
        isr: tuple[int, ...] = (1,),
        controller: int = 1,
        new: bool = False,
        live: tuple[int, ...] = (),
        replicas: tuple[int, ...] = (),
        topic_id: UUID | None = None,
    ) -> list[int]:
        """``topic_id``: that of all their topics, in a request of a later version."""
        states = [
            LeaderAndIsrPartitionState(
                topic_name=tp.topic, partition_index=tp.partition, controller_epoch=controller, leader=leader,
                leader_epoch=epoch, isr=list(isr), partition_epoch=0, replicas=sorted({1, *isr, *replicas}),
                is_new=new,
            )
            for tp in partitions
        ]  # fmt: skip
        request = LeaderAndIsrRequest(
            controller_id=1, controller_epoch=controller, ungrouped_partition_states=states,
            live_leaders=[LeaderAndIsrLiveLeader(broker_id=each, host_name="127.0.0.1", port=1) for each in live],
        )  # fmt: skip
        if topic_id is not None:
            request.ungrouped_partition_states = []
            request.topic_states = [
                LeaderAndIsrTopicState(topic_name=state.topic_name, topic_id=topic_id, partition_states=[state])
                for state in states
            ]
        response = self.state_changes.become_leader_or_follower(request)
        return [response.error_code, *(partition.error_code for partition in response.partition_errors)]

    def stop(self, tp: TopicPartition, delete: bool, controller: int = 1) -> list[int]:
        request = StopReplicaRequest(
            controller_id=1, controller_epoch=controller, delete_partitions=delete,
            ungrouped_partitions=[StopReplicaPartitionV0(topic_name=tp.topic, partition_index=tp.partition)],
        )  # fmt: skip
        response = self.state_changes.stop_replicas(request)
        return [response.error_code, *(partition.error_code for partition in response.partition_errors)]

    def stop_in_epoch(self, tp: TopicPartition, epoch: int) -> list[int]:
        """Delete it, as controllers do since Kafka 2.6."""
        state = StopReplicaPartitionState(partition_index=tp.partition, leader_epoch=epoch, delete_partition=True)
        topic = StopReplicaTopicState(topic_name=tp.topic, partition_states=[state])
        request = StopReplicaRequest(controller_id=1, controller_epoch=1, topic_states=[topic])
        return [each.error_code for each in self.state_changes.stop_replicas(request).partition_errors]

    @property
    def followed(self) -> int:
        """How many partitions are fetched from leaders."""
        return sum(fetcher.partition_count for fetcher in self.replicas.fetchers.fetcher_thread_map.values())

    def log(self, tp: TopicPartition) -> Log:
        return self.replicas.get_leader_log(tp)[2]

    def local_log(self, tp: TopicPartition) -> Log:
        partition = self.replicas.get_partition(tp)
        assert partition is not None
        assert partition.log is not None
        return partition.log

    def produce(self, tp: TopicPartition, count: int = 1, acks: int = -1, internal: bool = False) -> None:
        builder = MemoryRecordsBuilder(2, CompressionType.NONE)
        for i in range(count):
            builder.append(i, None, b"x" * 100)
        self.replicas.append_records(1000, acks, internal, {tp: builder.build()}, self.produced.append)

    def fetch(
        self, tp: TopicPartition, offset: int, min_bytes: int = 1, max_wait_ms: int = 0, max_bytes: int = 1 << 20,
        replica_id: int = -1, hard: bool = False, committed_only: bool = False, epoch: int = -1,
        last_epoch: int = -1, client: ClientMetadata | None = None,
    ) -> None:  # fmt: skip
        params = FetchParams(replica_id, max_wait_ms, min_bytes, max_bytes, hard, committed_only, client)
        asked = FetchPartition(offset, max_bytes, -1, epoch, last_epoch)
        self.replicas.fetch_messages(params, [(tp, asked)], self.fetched.append)

    def close(self) -> None:
        self.replicas.shutdown()
        self.logs.shutdown()


def only(results: list[Fetched]) -> LogReadResult:
    assert len(results) == 1
    return results[0][0][1]


def offsets(result: LogReadResult) -> list[int]:
    data = result.records if isinstance(result.records, bytes) else result.records.to_bytes()  # type: ignore[union-attr]
    return [record.offset for batch in batches(data) for record in batch.records()]
