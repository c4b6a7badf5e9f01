"""Replicas of one partition whose brokers do nothing by themselves: every fetch is made by hand.

It shows the moments that pass too quickly in a running cluster: book 6.2.2 and 7.2.2. Each broker has its real
``ReplicaManager``, logs and fetcher, but no threads, no sockets and no ZooKeeper. A fetch is one turn of the follower's
``ReplicaFetcherThread``, whose requests reach the leader directly::

    with ReplicasByHand() as replicas:
        replicas.lead(1)
        replicas.produce("a")
        replicas.fetch(2)
        print(replicas)

The film keeps the state of all replicas after each step.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from kafka_learn.recording.fetchers_by_hand import MAX_BYTES, FetchersByHand, LeaderByHand, bytes_of
from kafka_learn.recording.run_brokers import in_thread
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import select_offline_partition_leader
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch

PARTITION = TopicPartition("demo", 0)
PARKED = "…"
"""Stands for a response that has not arrived."""
CONTROLLER, CONTROLLER_EPOCH = 9, 1
LONG_MS = 60_000
LAST_PROTOCOL_THAT_ASKS_FIRST = "2.6"
"""Later followers learn where logs diverge when they fetch (KIP-595)."""
NO_EPOCH = -1
"""The leader epoch of records in the formats up to 0.10.2, which have none."""
_TIMESTAMP = 1_600_000_000_000


@dataclass(frozen=True)
class ReplicaView:
    """One broker's state at a moment. ``values`` has each record with the epoch of the leader that appended it."""

    is_alive: bool = False
    leads: bool = False
    in_isr: bool = False
    values: tuple[tuple[str, int], ...] = ()
    high_watermark: int = 0
    known_ends: Mapping[int, int] = field(default_factory=dict)
    """On the leader, the LEOs of the followers, as their fetches have told them; -1 before the first fetch."""


@dataclass(frozen=True)
class Frame:
    """A step (``fetch 2``) and the replicas after it, by broker id."""

    step: str
    views: Mapping[int, ReplicaView]


class Produced:
    """A produce request; ``response`` is PARKED until the broker has responded."""

    def __init__(self, value: str) -> None:
        self.value = value
        self.response = PARKED

    def respond(self, responses: Mapping[TopicPartition, PartitionResponse]) -> None:
        """The broker's callback."""
        response = responses[PARTITION]
        self.response = f"offset {response.base_offset}" if response.error is Errors.NONE else response.error.name

    def __str__(self) -> str:
        return f"{self.value}: {self.response}"


class ReplicasByHand:
    """Brokers 1, 2, … with a replica of ``demo-0`` each. A context manager."""

    def __init__(self, brokers: int = 3, *, protocol: str = "", min_insync_replicas: int = 1) -> None:
        """``protocol`` is ``inter.broker.protocol.version``; with 0.10.2, followers truncate to high watermarks.

        By default it is the last one whose followers ask for the ends of epochs, which shows in the figures.
        """
        self.time = MockTime()
        topic = {"min.insync.replicas": str(min_insync_replicas)}
        self.topic_config = LogConfig(topic | ({"message.format.version": protocol} if protocol else {}))
        self.protocol = protocol
        self.film: list[Frame] = []
        self.state = LeaderIsrAndControllerEpoch(LeaderAndIsr(-1, [], -1, 0), CONTROLLER_EPOCH)
        """The content that the partition's ``state`` node would have in ZooKeeper."""
        self._folder = Path(tempfile.mkdtemp(prefix="kafka-lite-replicas-"))
        self._quiet = ExitStack()
        self.brokers = {number: BrokerByHand(self, number) for number in range(1, brokers + 1)}

    def __enter__(self) -> Self:
        self._quiet.enter_context(quiet("kafka_lite", "state.change.logger"))
        for broker in self.brokers.values():
            broker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for broker in self.brokers.values():
            broker.kill()
        self._quiet.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_folder_of(self, broker_id: int, old: Path | None) -> Path:
        """A log directory for the next run of a broker, with the files of the last one.

        A broker that was killed in this process still has its files open, and holds their lock.
        """
        folder = Path(tempfile.mkdtemp(dir=self._folder, prefix=f"broker-{broker_id}-"))
        if old is not None:
            shutil.copytree(old, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".lock"))
        return folder

    # ── what the controller does ──────────────────────────────────────────────────────────────────────────────────

    def lead(self, leader: int, isr: Sequence[int] = ()) -> None:
        """Send LeaderAndIsr to all live brokers: ``leader`` leads in a new epoch. By default all are in sync."""
        members = list(isr) or [leader, *(each for each in self.live if each != leader)]
        self._send(LeaderAndIsr(leader, members, self.state.leader_and_isr.leader_epoch + 1, self._zk_version + 1))
        self._note(f"lead {leader}")

    def elect(self, *, unclean: bool = False) -> int:
        """Let the controller's selector choose a leader among the live brokers, and send it to them.

        Raises NoReplicaOnlineError.
        """
        current = self.state.leader_and_isr
        election = select_offline_partition_leader(PARTITION, current, self.live, self.live, unclean)
        self._send(replace(election.leader_and_isr, zk_version=self._zk_version + 1))
        self._note(f"lead {election.leader_and_isr.leader}")
        return election.leader_and_isr.leader

    def _send(self, state: LeaderAndIsr) -> None:
        self.state = LeaderIsrAndControllerEpoch(state, CONTROLLER_EPOCH)
        for broker_id in self.live:
            self._send_to(broker_id, is_new=state.leader_epoch == 0)

    def _send_to(self, broker_id: int, *, is_new: bool = False) -> None:
        state = self.state.leader_and_isr
        live = [LeaderAndIsrLiveLeader(broker_id=each, host_name=f"broker-{each}", port=9092) for each in self.live]
        ordered = LeaderAndIsrPartitionState(
            topic_name=PARTITION.topic,
            partition_index=PARTITION.partition,
            controller_epoch=CONTROLLER_EPOCH,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            partition_epoch=state.zk_version,
            replicas=list(self.brokers),
            is_new=is_new,
        )
        request = LeaderAndIsrRequest(
            controller_id=CONTROLLER,
            controller_epoch=CONTROLLER_EPOCH,
            ungrouped_partition_states=[ordered],
            live_leaders=live,
        )
        broker = self.brokers[broker_id]
        in_thread(broker.name, lambda: broker.changes.become_leader_or_follower(request))

    @property
    def _zk_version(self) -> int:
        return self.state.leader_and_isr.zk_version

    def update_partition_state(self, _partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """A leader writes its ISR over the version that it knows; None if that is not the current one."""
        if state.leader_and_isr.zk_version != self._zk_version:
            return None
        written = self._zk_version + 1
        self.state = replace(state, leader_and_isr=replace(state.leader_and_isr, zk_version=written))
        return written

    def propagate_isr_changes(self, _partitions: Collection[TopicPartition]) -> None:
        """There is no controller to be notified."""

    # ── what clients and brokers do ───────────────────────────────────────────────────────────────────────────────

    @property
    def live(self) -> list[int]:
        """The ids of the running brokers."""
        return [number for number, broker in self.brokers.items() if broker.is_running]

    def produce(self, value: str, *, acks: int = -1, to: int = 0) -> Produced:
        """Send one record to the leader, or to the broker ``to``, which may believe that it leads."""
        produced = Produced(value)
        records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, value.encode())], timestamp=_TIMESTAMP)
        leader = self.brokers[to or self.state.leader_and_isr.leader]

        def append() -> None:
            leader.manager.append_records(LONG_MS, acks, False, {PARTITION: bytearray(records)}, produced.respond)

        in_thread("producer", append)
        self._note(f"produce {value}")
        return produced

    def fetch(self, follower: int) -> None:
        """One turn of a follower's fetcher: truncation if it is due, then a fetch."""
        self.brokers[follower].fetch()
        self._note(f"fetch {follower}")

    def consume(self) -> list[str]:
        """The records that a consumer can read from the leader: everything below the high watermark."""
        read = self.brokers[self.state.leader_and_isr.leader].read(FetchParams(-1, 0, 0, MAX_BYTES, False), 0)
        return [value for value, _ in _records_in(bytes_of(read.records))]

    def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly: it writes its high watermarks."""
        self.brokers[broker_id].stop()
        self._note(f"stop {broker_id}")

    def kill(self, broker_id: int) -> None:
        """End a broker's process at once. What it has appended stays in the page cache, and so in the file."""
        self.brokers[broker_id].kill()
        self._note(f"kill {broker_id}")

    def start(self, broker_id: int) -> None:
        """Start a broker again; the controller sends it the partition's state."""
        self.brokers[broker_id].start()
        self._send_to(broker_id)
        self._note(f"start {broker_id}")

    def advance(self, seconds: int) -> None:
        """Move all clocks forward; the brokers' background tasks that are due run."""
        self.time.sleep(seconds * 1000)
        self._note(f"clock {seconds}")

    # ── what can be seen ──────────────────────────────────────────────────────────────────────────────────────────

    def _note(self, step: str) -> None:
        before = self.film[-1].views if self.film else {}
        views = {number: broker.view(before.get(number)) for number, broker in self.brokers.items()}
        self.film.append(Frame(step, views))

    def __str__(self) -> str:
        """A line for each broker: role, LEO, high watermark, records."""
        rows = []
        for number, view in (self.film[-1].views if self.film else {}).items():
            role = "leader" if view.leads else "in sync" if view.in_isr else "not in sync"
            row = f"LEO {len(view.values)}  HW {view.high_watermark}  {' '.join(value for value, _ in view.values)}"
            rows.append(f"broker {number}  {role if view.is_alive else 'down':11}  {row}".rstrip())
        return "\n".join(rows)


class BrokerByHand:
    """One broker: its replica manager, while it runs."""

    def __init__(self, replicas: ReplicasByHand, broker_id: int) -> None:
        self.id = broker_id
        self.name = f"broker {broker_id}"
        self._replicas = replicas
        self._manager: ReplicaManager | None = None
        self._scheduler = MockScheduler(replicas.time)
        self._folder: Path | None = None
        self._changes: ReplicaStateChanges | None = None

    @property
    def is_running(self) -> bool:
        """Whether the broker was started and neither stopped nor killed since."""
        return self._manager is not None

    @property
    def manager(self) -> ReplicaManager:
        """The replica manager. Raises ConnectionError if the broker is down."""
        if self._manager is None:
            raise ConnectionError(f"broker {self.id} is down")
        return self._manager

    @property
    def changes(self) -> ReplicaStateChanges:
        """The object that executes the controller's requests. Raises ConnectionError if the broker is down."""
        if self._manager is None or self._changes is None:
            raise ConnectionError(f"broker {self.id} is down")
        return self._changes

    @property
    def partition(self) -> Partition:
        """The partition as this broker sees it. Raises ConnectionError, or NOT_LEADER_OR_FOLLOWER before it is told."""
        found = self.manager.get_partition(PARTITION)
        if found is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"broker {self.id} does not know {PARTITION} yet")
        return found

    def start(self) -> None:
        """Start with the files of the last run."""
        replicas = self._replicas
        folder = self._folder = replicas.new_folder_of(self.id, self._folder)
        time, config = replicas.time, replicas.topic_config
        scheduler = self._scheduler = MockScheduler(time)
        logs = LogManager([folder], {}, config, scheduler, time)
        logs.startup()
        settings = {"broker.id": str(self.id), "zookeeper.connect": "embedded", "log.dirs": str(folder)}
        protocol = replicas.protocol or LAST_PROTOCOL_THAT_ASKS_FIRST
        settings |= {"inter.broker.protocol.version": protocol, "log.message.format.version": protocol}
        broker_config = KafkaConfig(settings)
        manager = new_replica_manager(broker_config, logs, scheduler, time, isr_store=replicas)
        manager.fetchers = FetchersByHand(
            broker_config.replica_fetch_config(), 1, manager.get_partition, logs, registry=MetricsRegistry(), time=time,
            quota=manager.quotas.follower, connect=self._connect,
        )  # fmt: skip
        manager.startup()
        self._manager, self._changes = manager, new_replica_state_changes(manager, config)

    def _connect(self, leader: BrokerEndPoint, config: ReplicaFetchConfig, _time: Time) -> LeaderByHand:
        return LeaderByHand(self._replicas.brokers[leader.id], config.broker_id)

    def stop(self) -> None:
        """Shut down cleanly."""
        if self._manager is not None:
            self._manager.shutdown()
            self._manager.log_manager.shutdown()
            self._scheduler.shutdown()
            self._manager = None

    def kill(self) -> None:
        """Die: nothing more is written."""
        if self._manager is not None:
            manager, self._manager = self._manager, None
            self._scheduler.shutdown()
            manager.delayed_fetch_purgatory.shutdown()
            manager.delayed_produce_purgatory.shutdown()

    def fetch(self) -> None:
        """One turn of the fetcher, if this broker follows another one."""
        for thread in self.manager.fetchers.fetcher_thread_map.values():
            if thread.partition_count:
                in_thread(self.name, thread.do_work)

    def read(self, params: FetchParams, offset: int, leader_epoch: int = -1) -> LogReadResult:
        """A fetch request for the partition, which does not wait."""
        found: list[tuple[TopicPartition, LogReadResult]] = []
        asked = FetchPartition(offset, MAX_BYTES, current_leader_epoch=leader_epoch)
        self.manager.fetch_messages(params, [(PARTITION, asked)], found.extend)
        return found[0][1]

    def view(self, before: ReplicaView | None) -> ReplicaView:
        """This broker's current state; its last one if it is down."""
        if self._manager is None:
            return replace(before or ReplicaView(), is_alive=False, leads=False, in_isr=self._is_in_isr)
        partition = self._manager.get_partition(PARTITION)
        replica = partition.get_replica() if partition is not None else None
        if partition is None or replica is None or replica.log is None:
            return ReplicaView(is_alive=True)
        leads = partition.leader_replica_if_local is not None
        others = {each.broker_id: each.log_end_offset.message_offset for each in partition.assigned_replicas}
        others.pop(self.id, None)
        return ReplicaView(
            is_alive=True,
            leads=leads,
            in_isr=self._is_in_isr,
            values=tuple(_records_of(replica.log)),
            high_watermark=replica.high_watermark.message_offset,
            known_ends=others if leads else {},
        )

    @property
    def _is_in_isr(self) -> bool:
        return self.id in self._replicas.state.leader_and_isr.isr


def _records_of(log: Log) -> list[tuple[str, int]]:
    return _records_in(bytes_of(log.read(log.log_start_offset, MAX_BYTES).records))


def _records_in(data: bytes) -> list[tuple[str, int]]:
    return [
        ((record.value or b"").decode(), getattr(batch, "partition_leader_epoch", NO_EPOCH))
        for batch in FetchedRecords(data).batches()
        for record in batch.records()
    ]
