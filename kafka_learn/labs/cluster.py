"""Three real brokers, each in its own process, with a learner's modules in one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from kafka_learn.labs.broker import LabBroker
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.testing.process_cluster import AnyProcessCluster

BROKER_IDS = (1, 2, 3)
LEARNERS = 1
WAIT_MS = 45_000
_POLL_MS = 50
_SETTINGS = {
    "zookeeper.session.timeout.ms": "30000",
    "replica.lag.time.max.ms": "1500",
    "replica.fetch.backoff.ms": "100",
    "controlled.shutdown.retry.backoff.ms": "100",
    "num.io.threads": "2",
    "offsets.topic.num.partitions": "1",
}


class _Processes(AnyProcessCluster[ProcessBroker]):
    """The brokers' processes, the first of them with the learner's modules."""

    def __init__(self, folder: Path, files: dict[str, Path], settings: Mapping[str, str]) -> None:
        super().__init__(folder, BROKER_IDS, {**_SETTINGS, **settings})
        self._files = files

    def _new_broker(self, broker_id: int, folder: Path) -> ProcessBroker:
        own = {"broker.id": str(broker_id), "zookeeper.connect": self.zookeeper_connect}
        files = self._files if broker_id == LEARNERS else {}
        return ProcessBroker(broker_id, folder, LabBroker(folder, files, {**self._overrides, **own}), self.zookeeper)


class LabCluster:
    """Brokers 1, 2 and 3 around a ZooKeeper. Broker 1 has the learner's modules, starts first and is the controller.

    It can be used in place of a ``LabBroker`` by the functions of ``kafka_learn.labs.clients``.
    """

    def __init__(self, folder: Path, files: dict[str, Path], settings: Mapping[str, str]) -> None:
        self._processes = _Processes(folder, files, settings)

    def __enter__(self) -> Self:
        try:
            self._processes.prepare()
            self._processes.start_broker(LEARNERS)
            self._processes.start_broker(*BROKER_IDS)
            # Otherwise a topic may begin without a broker in its ISR, of whose return clients hear seconds later.
            self.wait_until(lambda: self._live_brokers() == set(BROKER_IDS), lambda: "not all brokers have registered")
        except BaseException:
            self._processes.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.stop()

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to: all brokers that run."""
        return ",".join(broker.bootstrap_server for broker in self._processes.brokers if broker.is_running)

    def log_tail(self, lines: int = 12) -> str:
        """The end of the log of the learner's broker."""
        return self._processes.brokers[LEARNERS].end_of_log(lines)

    def kill(self, broker_id: int) -> None:
        """End a broker with kill -9, and its ZooKeeper session with it.

        Sessions are so long that no broker loses its own while the machine is busy; nobody waits for them here.
        """
        self._processes.brokers[broker_id].kill()

    def stop(self, broker_id: int) -> None:
        """Stop a broker, with controlled shutdown."""
        self._processes.stop_broker(broker_id)

    def start(self, broker_id: int) -> None:
        """Start a broker again with its files."""
        self._processes.start_broker(broker_id)

    def create_topic(self, topic: str, *replicas: Sequence[int], **config: str) -> None:
        """Create a topic with these replicas for each partition; wait until all are in sync."""
        from confluent_kafka.cimpl import NewTopic

        assignment = [list(each) for each in replicas]
        keys = {name.replace("_", "."): value for name, value in config.items()}
        new = NewTopic(topic, len(replicas), replica_assignment=assignment, config=keys)
        admin = self._admin()  # which must live until the result is there
        admin.create_topics([new])[topic].result(WAIT_MS / 1000)
        for number, each in enumerate(assignment):
            self.wait_for(topic, leader=each[0], isr=each, partition=number)

    def delete_topic(self, topic: str, *, wait: bool = True) -> None:
        """Delete a topic; without ``wait`` only ask for it, since a broker that is down delays the end."""
        if not wait:
            with self._zookeeper_client() as zookeeper:
                zookeeper.create(f"/admin/delete_topics/{topic}")
            return
        admin = self._admin()
        admin.delete_topics([topic])[topic].result(WAIT_MS / 1000)

    def has_node(self, path: str) -> bool:
        """Whether a znode exists."""
        with self._zookeeper_client() as zookeeper:
            return zookeeper.exists(path) is not None

    @contextmanager
    def _zookeeper_client(self) -> Iterator[Any]:
        from kazoo.client import KazooClient

        zookeeper = KazooClient(self._processes.zookeeper_connect)
        zookeeper.start(WAIT_MS / 1000)
        try:
            yield zookeeper
        finally:
            zookeeper.stop()
            zookeeper.close()

    def reassign(self, topic: str, replicas: Sequence[int], *, wait: bool = True) -> None:
        """Ask for other replicas of partition 0 in /admin/reassign_partitions; wait until they are all there are."""
        wanted = {"topic": topic, "partition": 0, "replicas": list(replicas)}
        with self._zookeeper_client() as zookeeper:
            data = json.dumps({"version": 1, "partitions": [wanted]}).encode()
            zookeeper.create("/admin/reassign_partitions", data, makepath=True)
            if wait:
                self.wait_until(
                    lambda: zookeeper.exists("/admin/reassign_partitions") is None,
                    lambda: f"the reassignment of {topic}-0 to {list(replicas)} does not end",
                )

    def wait_for(
        self, topic: str, *, leader: int | None = None, isr: Sequence[int] | None = None, partition: int = 0
    ) -> None:
        """Wait until clients see this leader, and ZooKeeper has this ISR. The failure says what there is instead.

        Clients hear of another ISR five seconds later, when the leader has told the controller.
        """
        seen: list[str] = []

        def reached() -> bool:
            found = self._partition(topic, partition)
            if found is None:
                return False
            state = self._processes.zookeeper.partition_state(TopicPartition(topic, partition))
            in_sync = state.leader_and_isr.isr if state is not None else []
            seen.append(f"leader {found.leader}, ISR {sorted(in_sync)}")
            return leader in (None, found.leader) and (isr is None or set(isr) == set(in_sync))

        wanted = [f"leader {leader}"] * (leader is not None) + [f"ISR {sorted(isr or ())}"] * (isr is not None)
        self.wait_until(
            reached,
            lambda: f"{topic}-{partition} must get {', '.join(wanted)}; it has {seen[-1] if seen else 'no metadata'}",
        )

    def wait_until(self, reached: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        """Wait for a condition. Fails with what ``otherwise`` says and the end of the learner's log."""
        deadline_ms = SYSTEM_TIME.hi_res_ms() + WAIT_MS
        while not reached():
            assert SYSTEM_TIME.hi_res_ms() < deadline_ms, f"{otherwise()}\n{self.log_tail()}"
            SYSTEM_TIME.sleep(_POLL_MS)

    def topics(self) -> set[str]:
        """The topics that a client sees."""
        return set(self._admin().list_topics(timeout=WAIT_MS / 1000).topics)

    def _live_brokers(self) -> set[int]:
        return set(self._admin().list_topics(timeout=WAIT_MS / 1000).brokers)

    def _partition(self, topic: str, partition: int) -> Any:
        found = self._admin().list_topics(topic, timeout=WAIT_MS / 1000).topics.get(topic)
        return found.partitions.get(partition) if found is not None else None

    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.bootstrap_servers})
