"""How long a topic is not copied while another topic is added to the mirror: MirrorMaker beside uReplicator.

Book 8.2.3. Run in a simulated world (``recorded_in_world``), so that the times are those of the network and of
timeouts, and not of a busy machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise

from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.run_brokers import wait_until
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.mirror.ureplicator.helix_names import DEFAULT_CLUSTER, ONLINE, STATE_MODEL, partition_name
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

SEED = 2
COPIED, ADDED = "a", "b"
PARTITIONS = 4
EVERY_MS = 20
"""A record for each partition."""
START_DELAY_MS = 2_500
"""Between the two mirrors: nobody starts them at the same moment."""
WARM_UP_MS, LOOK_MS = 10_000, 5_000
AFTERWARDS_MS = 3_000
WAIT_MS = 120_000
SESSION_TIMEOUT_MS = 30_000
WORKERS = ("w1", "w2")
QUIET, ADDING = "quiet", "adding"


class Copying:
    """Two clusters, and a steady stream of records to the topic that is copied."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.source = stack.enter_context(Cluster({"group.initial.rebalance.delay.ms": "0"}))
        self.target = stack.enter_context(Cluster())
        self.source.create_topic(COPIED, partitions=PARTITIONS)
        for topic in (COPIED, ADDED):
            # The target notes when a record arrives.
            configs = {"message.timestamp.type": "LogAppendTime"}
            self.target.create_topic(topic, partitions=PARTITIONS, configs=configs)
        self._is_over = threading.Event()
        publisher = threading.Thread(target=self._publish, daemon=True)
        publisher.start()
        stack.callback(publisher.join)
        stack.callback(self._is_over.set)

    def _publish(self) -> None:
        with KafkaProducer({"bootstrap.servers": self.source.bootstrap_servers}) as producer:
            number = 0
            while not self._is_over.wait(EVERY_MS / 1000):
                for partition in range(PARTITIONS):
                    producer.send(ProducerRecord(COPIED, b"%d:%d" % (partition, number), None, partition))
                number += 1

    def measured(self, title: str, assign: Callable[[str], None]) -> RecordedRun:
        """The longest pauses of each partition: when nothing happens, and while the other topic is added."""
        SYSTEM_TIME.sleep(WARM_UP_MS)
        now_ms = SYSTEM_TIME.milliseconds()
        quiet = self._longest_pauses(now_ms - LOOK_MS, now_ms)
        self.source.create_topic(ADDED, partitions=PARTITIONS)
        self.source.produce(ADDED, "first")
        assign(ADDED)
        wait_until(lambda: bool(self.target.records(ADDED)), WAIT_MS)
        SYSTEM_TIME.sleep(AFTERWARDS_MS)
        adding = self._longest_pauses(now_ms, SYSTEM_TIME.milliseconds())
        events = [
            Event(0, "measured", Kind.NOTE, f"{COPIED}-{partition}", when, detail={"ms": pause_ms})
            for when, pauses in ((QUIET, quiet), (ADDING, adding))
            for partition, pause_ms in enumerate(pauses)
        ]
        return RecordedRun(tuple(events), title)

    def _longest_pauses(self, start_ms: int, end_ms: int) -> list[int]:
        """For each partition of the source, the longest time between two of its records in the target, in ms."""
        records = self.target.records(COPIED)
        found = []
        for partition in range(PARTITIONS):
            own = b"%d:" % partition
            times = sorted(each.timestamp_ms for each in records if (each.value or b"").startswith(own))
            pauses = [after - before for before, after in pairwise(times) if start_ms <= after and before <= end_ms]
            found.append(max(pauses))
        return found


def mirror_maker() -> RecordedRun:
    """Two MirrorMakers with new consumers: the added topic is one more of their group."""
    with ExitStack() as stack:
        copying = Copying(stack)
        consumer = {
            "bootstrap.servers": copying.source.bootstrap_servers, "group.id": "mirror",
            "auto.offset.reset": "earliest", "metadata.max.age.ms": "5000", "partition.assignment.strategy": "range",
        }  # fmt: skip
        producer = {"bootstrap.servers": copying.target.bootstrap_servers}
        for _ in range(2):
            mirror = MirrorMaker.create(MirrorMakerConfig(consumer, producer, whitelist=f"{COPIED}|{ADDED}"))
            mirror.start()
            stack.callback(mirror.await_shutdown)
            stack.callback(mirror.initiate_shutdown)
            SYSTEM_TIME.sleep(START_DELAY_MS)
        return copying.measured("MirrorMaker", lambda _topic: None)


def ureplicator() -> RecordedRun:
    """Two workers of uReplicator: the added topic is one more line of the controller's table."""
    with ExitStack() as stack:
        copying = Copying(stack)
        admin = _helix(copying)
        consumer = {
            "zookeeper.connect": copying.source.zookeeper_connect, "group.id": "ur", "auto.offset.reset": "smallest",
        }  # fmt: skip
        producer = {"bootstrap.servers": copying.target.bootstrap_servers}
        for name in WORKERS:
            helix = {"zkServer": copying.target.zookeeper_connect, "instanceId": name}
            worker = MirrorMakerWorker.create(MirrorMakerWorkerConfig(consumer, producer, helix))
            worker.start()
            stack.callback(worker.await_shutdown)
            SYSTEM_TIME.sleep(START_DELAY_MS)

        def assign(topic: str) -> None:
            names = {partition_name(number): {WORKERS[number % 2]: ONLINE} for number in range(PARTITIONS)}
            admin.add_resource(IdealState.customized(topic, STATE_MODEL, names))

        assign(COPIED)
        return copying.measured("uReplicator", assign)


def _helix(copying: Copying) -> ZKHelixAdmin:
    """A cluster of Helix with its controller, in the target's ZooKeeper."""

    def session() -> ZKHelixDataAccessor:
        client = ZooKeeperClient(copying.target.zookeeper_connect, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
        client.connect()
        copying.stack.callback(client.close)
        return ZKHelixDataAccessor(client, PropertyPaths(DEFAULT_CLUSTER))

    admin = ZKHelixAdmin(session())
    admin.add_cluster(BUILT_IN_STATE_MODELS.values())
    controller = GenericHelixController(session(), "controller")
    controller.start()
    copying.stack.callback(controller.shutdown)
    return admin


def main() -> None:
    """Print the longest pause of each partition, in ms, of both."""
    from kafka_learn.recording.simulated_run import recorded_in_world

    for function in (mirror_maker, ureplicator):
        run = recorded_in_world(f"chapters.ch08_pipelines.figures.mirror_pauses:{function.__name__}", seed=SEED)
        for when in (QUIET, ADDING):
            print(f"{function.__name__:<12} {when:<6}", *(event.detail["ms"] for event in run if event.what == when))


if __name__ == "__main__":
    main()
