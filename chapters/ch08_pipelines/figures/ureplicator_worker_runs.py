"""Recorded runs of uReplicator's worker: a partition comes and another one goes, while the fetcher goes round.

Book 8.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kafka_learn.recording.recorded_run import Detail, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, in_thread, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.participant.state_transition_handler import run_transition
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, ONLINE, STATE_MODEL, partition_name
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_manager import CompactConsumerFetcherManager
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_thread import CompactConsumerFetcherThread
from kafka_lite.mirror.ureplicator.worker.helix_worker_online_offline_state_model_factory import (
    HelixWorkerOnlineOfflineStateModel,
)
from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.mirror.ureplicator.worker.record_in_hand import RecordInHand
from kafka_lite.mirror.ureplicator.worker.topic_mappings import TopicMappingHandler
from kafka_lite.mirror.ureplicator.worker.worker_consumer import WorkerConsumer
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.testing.cluster import Cluster

GROUP_ID = "ur"
INTERVAL_MS = 600_000
WAIT_MS = 60_000
RECORDS = 3
HELIX_THREAD = "helix"
LANES = (
    "HelixWorkerOnlineOfflineStateModel",
    "KafkaConnector",
    "ConsumerOffsets",
    "CompactConsumerFetcherManager",
    "CompactConsumerFetcherThread",
    "RecordInHand",
    "MirrorMakerProducer",
)


class Worker(NamedTuple):
    """A worker without its participant: a run makes the transitions itself."""

    connector: KafkaConnector
    source: Cluster

    def transition(self, partition: int, start: str, to: str) -> None:
        """Run a transition in the thread of the participant."""
        replica = HelixWorkerOnlineOfflineStateModel(self.connector, TOPIC, partition_name(partition))
        replica.current_state = start
        message = Message.transition(
            *("id", 0), source=("controller", None), target=("w1", "1"), resource=TOPIC,
            partition=partition_name(partition), from_state=start, to_state=to, state_model=STATE_MODEL,
        )  # fmt: skip
        in_thread(HELIX_THREAD, lambda: run_transition(replica, message))

    def wait_for_position(self, partition: int, position: int) -> None:
        """Until the thread of the worker has read a partition that far."""
        of = TopicPartition(TOPIC, partition)
        wait_until(lambda: self.connector.progress().get(of, (0, None))[0] == position, WAIT_MS)


@contextmanager
def running_worker() -> Iterator[Worker]:
    """Two clusters, a topic with records in two partitions, and a worker that copies the first one."""
    with ExitStack() as stack:
        source, target = stack.enter_context(Cluster()), stack.enter_context(Cluster())
        for cluster in (source, target):
            cluster.create_topic(TOPIC, partitions=2)
        for partition in range(2):
            source.produce(TOPIC, *(f"m{number}" for number in range(RECORDS)), partition=partition)
        state = MirrorMakerState()
        producer = MirrorMakerProducer(
            stack.enter_context(KafkaProducer({"bootstrap.servers": target.bootstrap_servers})),
            state,
            sync=False,
            abort_on_send_failure=True,
        )
        commits = MirrorMakerCommits(producer, state, SYSTEM_TIME)
        connector = KafkaConnector(_config(source), commits)
        thread = MirrorMakerThread(
            *(0, WorkerConsumer(connector), producer, TopicMappingHandler({}), commits, state, INTERVAL_MS)
        )
        stack.callback(thread.shutdown)
        thread.start()
        worker = Worker(connector, source)
        worker.transition(0, OFFLINE, ONLINE)
        worker.wait_for_position(0, RECORDS)
        yield worker


def _config(source: Cluster) -> ConsumerConfig:
    return ConsumerConfig({
        "zookeeper.connect": source.zookeeper_connect, "group.id": GROUP_ID, "auto.offset.reset": "smallest",
        "auto.commit.enable": "false", "consumer.timeout.ms": 100,
    })  # fmt: skip


def worker_watches() -> list[Watch]:
    """From a transition to the maps of the fetchers, and to the commit."""
    return [
        *watch(HelixWorkerOnlineOfflineStateModel._become_online, show=()),
        *watch(HelixWorkerOnlineOfflineStateModel._become_offline, show=()),
        *watch(KafkaConnector.add_topic_partition, show=_partition),
        *watch(KafkaConnector.delete_topic_partition, show=_partition),
        *watch(ConsumerOffsets.fetch_offsets, show=()),
        *watch(ConsumerOffsets.commit_offsets, show=_offsets),
        *watch(CompactConsumerFetcherManager.add_topic_partition, show=()),
        *watch(CompactConsumerFetcherManager.remove_topic_partition, show=()),
        *watch(CompactConsumerFetcherManager.remove_fetcher_for_partitions, show=()),
        *watch(CompactConsumerFetcherManager.add_fetchers, show=()),
        *watch(CompactConsumerFetcherThread.add_partitions, show=()),
        *watch(CompactConsumerFetcherThread.remove_partitions, show=()),
        *watch(CompactConsumerFetcherThread.change_partitions, show=_next_round),
        *watch(RecordInHand.give_up, show=()),
        *watch(MirrorMakerProducer.flush, show=()),
    ]


def _partition(call: Call) -> Detail:
    return {"partition": str(call.argument("partition"))}


def _offsets(call: Call) -> Detail:
    return {str(partition): offset for partition, offset in call.argument("offsets").items()}


def _next_round(call: Call) -> Detail:
    removed, added = call.argument("changes")
    names = {"removed": removed, "added": added}
    return {name: ", ".join(map(str, sorted(partitions))) for name, partitions in names.items() if partitions}


def come_and_go() -> RecordedRun:
    """While demo-0 is copied, demo-1 comes; then demo-0 goes. No fetch, no queue and no thread is stopped for it."""
    with (
        Recording(worker_watches(), title="A partition comes, another one goes", paused=True) as recording,
        running_worker() as worker,
        recording.running(),
    ):
        worker.transition(1, OFFLINE, ONLINE)
        recording.wait_for("CompactConsumerFetcherThread.change_partitions")
        worker.wait_for_position(1, RECORDS)
        worker.transition(0, ONLINE, OFFLINE)
        recording.wait_for(
            "CompactConsumerFetcherThread.change_partitions", count=3
        )  # two calls, and the end of the first one
        recording.pause()
    return recording.run.recorded_in(__name__, "come_and_go", LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {"worker-partitions": come_and_go}
