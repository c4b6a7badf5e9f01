"""The simulator's workload of one broker: clients, groups, topics and faults, all drawn from the seed.

Not in Kafka.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from random import Random
from typing import Any, Final, NamedTuple

from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.testing.history.checker import Violation, check, forgotten_configs
from kafka_lite.testing.history.greatest_offsets import GreatestOffsets
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.broker_faults import BrokerFaults
from kafka_lite.testing.simulation.cluster import (
    NO_ROOM,
    NO_ZOOKEEPER,
    OPERATOR_PROGRAMS,
    PROGRAMS,
    STOPPED,
    Broker,
    BrokerCluster,
)
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.machine import Machine, Process, Span
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.world import World

SETTLE_S: Final = 600.0
"""How long clients have to finish after the last fault: the longest retries are shorter."""
MOST_REPLICAS: Final = 3
"""Replicas of each partition, if there are as many brokers."""
CATCH_UP_S: Final = 50.0
"""How long groups have to read what is left: the longest session is shorter, and a rebalance that is left alone ends
only after ``max.poll.interval.ms``, which is longer."""
HALF_OPEN_S: Final = 200.0
"""The same after a power failure: a member that awaits the response of a broker that is gone notices that late."""
NOTIFIED_S: Final = 60.0
"""How long brokers have to apply an alteration."""
ALTERATIONS: Final = 3
"""How often a topic is altered after its creation."""
PATIENT: Final = {"bootstrap_timeout_ms": 600_000}
"""kafka-python's clients give up at their start if there is no broker for a while."""
MEMBER: Final = {
    **PATIENT, "session_timeout_ms": 10_000, "heartbeat_interval_ms": 1_000, "max_poll_interval_ms": 60_000,
}  # fmt: skip
"""kafka-python's consumers have the timeouts of ours."""
THEIR_PRODUCER: Final = {**PATIENT, "acks": "all", "batch_size": 1_000}
"""A batch must fit into the smallest segment: if it is too large, kafka-python splits it, and then ``flush`` fails."""


class Result(NamedTuple):
    """The result of a run."""

    history: History
    violations: list[Violation]
    faults: Sequence[Fault] = ()


class Workload:
    """Clients of one broker or of a cluster, and the responses that they got."""

    def __init__(self, world: World, properties: Mapping[str, str] | None = None, brokers: int = 1) -> None:
        self.world = world
        self.random: Random = world.random_for("workload")
        self.history = History()
        self.clients: list[Process] = []
        self.topics: dict[str, int] = {}
        self.cluster = BrokerCluster(world, brokers, properties or {})
        self.broker = self.cluster.brokers[0]
        """The broker, if there is one only."""
        self._machine = world.machine("clients")
        self._read_topics: set[str] = set()
        """Topics that groups read."""
        self._polled = GreatestOffsets(self.history.polled, attrgetter("place"))
        self._acknowledged = GreatestOffsets(self.history.acknowledged, itemgetter(1))
        self.has_idempotence = True
        """Whether producers are idempotent: brokers with an old message format have no place for sequence numbers."""
        self.catch_up_s = CATCH_UP_S
        """How long groups have to read what is left."""
        self._broker_faults = BrokerFaults(
            world, self.cluster, self._stop_broker, self._machine, self.topics, self.history
        )
        self._consumers: set[Process] = set()
        """Clients that read until the end. The others end once nothing more is to be sent."""
        self._successors: dict[Process, Callable[[], None]] = {}
        """Clients that may be killed, and how to start them again: under another name, since a history must tell them
        apart."""

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_topic(self, topic: str, partitions: int, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait for it."""
        self.topics[topic] = partitions
        if (configs or {}).get("cleanup.policy") == "compact":
            self.history.compacted.add(topic)
        self._operate("create_topic", topic, partitions, self._replicas, dict(configs or {}))

    @property
    def _replicas(self) -> int:
        return min(MOST_REPLICAS, len(self.cluster.brokers))

    def create_and_alter_topic(self, topic: str, partitions: int) -> None:
        """Create a topic while another client alters it as soon as it is there."""
        alterations = [{"retention.ms": str(86_400_000 + number)} for number in range(ALTERATIONS)]
        altering = self._start("alter_topic", topic, alterations)
        self.create_topic(topic, partitions)
        self._await_success(altering)
        self.history.configs[topic] = alterations[-1]

    def add_partitions(self, topic: str, partitions: int, delay_s: float) -> None:
        """Give a topic more partitions, while another client alters it: the alteration begins this much later.

        Both run beside the broker, as tools do; over a network they would seldom meet. In a cluster they do not: a
        broker's machine may lose power any time.
        """
        is_alone = len(self.cluster.brokers) == 1
        alteration, machine = {"retention.ms": "43200000"}, self.broker.machine if is_alone else self._machine
        adding = self._start("create_partitions", topic, partitions, machine=machine)
        self.world.sleep(delay_s)
        self._await_success(self._start("alter_topic", topic, [alteration], machine=machine))
        self._await_success(adding)
        self.topics[topic], self.history.configs[topic] = partitions, alteration
        if is_alone:
            self._read_configs()  # now: a broker that starts again reads the configurations again

    def grow_topic(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions, and wait for them."""
        self._operate("create_partitions", topic, partitions)
        self.topics[topic] = partitions

    def delete_topic(self, topic: str) -> None:
        """Delete a topic and wait until it is gone."""
        self.topics.pop(topic, None)
        self.history.deleted.add(topic)
        self._operate("delete_topic", topic)

    def read_everything(self) -> None:
        """Tell the history what is in the log."""
        self._operate("read_everything", dict(self.topics), self.history)

    def _operate(self, program: str, *args: Any, module: str = OPERATOR_PROGRAMS) -> None:
        self._await_success(self._start(program, *args, module=module))

    def _start(
        self, program: str, *args: Any, module: str = OPERATOR_PROGRAMS, machine: Machine | None = None
    ) -> Process:
        return (machine or self._machine).start(module + program, self.cluster.bootstrap, *args, name=program)

    def _await_success(self, process: Process) -> None:
        self.world.await_success(process, SETTLE_S)

    # ── clients ───────────────────────────────────────────────────────────────────────────────────────────────────

    def produce(self, name: str, load: Load, **configs: object) -> None:
        """Start one of our producers; it is idempotent unless told otherwise."""
        configs = {"enable.idempotence": self.has_idempotence, **configs}
        if configs["enable.idempotence"]:
            self.history.idempotent.add(name)
        self._start_client("producer", name, load, self.history, configs)

    def produce_by_kafka_python(self, name: str, load: Load) -> None:
        """Start a producer of kafka-python, which is idempotent if the brokers support that."""
        configs = {**THEIR_PRODUCER, "enable_idempotence": self.has_idempotence}
        if self.has_idempotence:
            self.history.idempotent.add(name)
        self._start_client("kafka_python_producer", name, load, self.history, configs)

    def consume(self, name: str, group: str, topic: str, **configs: object) -> None:
        """Start one of our consumers."""
        consumer = self._start_client("consumer", name, group, topic, self.history, configs)
        self._read_topics.add(topic)
        self._reads_to_the_end(consumer, lambda: self.consume(f"{name}+", group, topic, **configs))

    def consume_by_kafka_python(self, name: str, group: str, topic: str) -> None:
        """Start a consumer of kafka-python."""
        consumer = self._start_client("kafka_python_consumer", name, group, topic, self.history, MEMBER)
        self._read_topics.add(topic)
        self._reads_to_the_end(consumer, lambda: self.consume_by_kafka_python(f"{name}+", group, topic))

    def _reads_to_the_end(self, consumer: Process, start_again: Callable[[], None]) -> None:
        self._consumers.add(consumer)
        self._successors[consumer] = start_again

    def _start_client(self, program: str, name: str, *args: Any, module: str = PROGRAMS) -> Process:
        client = self._machine.start(module + program, self.cluster.bootstrap, name, *args, name=name)
        self.clients.append(client)
        return client

    def finish(self) -> list[Violation]:
        """Let the clients end, read the log, stop the brokers, and judge."""
        self._let_groups_catch_up()
        self.history.is_over = True
        self.world.wait_until(lambda: not any(client.is_running for client in self.clients), SETTLE_S, "clients to end")
        brokers = len(self.cluster.brokers)
        if brokers > 1:
            self._operate("await_replicas", dict(self.topics), self._replicas)
            self._operate("read_hosts", dict(self.topics), self.history)
        self.read_everything()
        if self.history.assignments:  # otherwise there may be no __consumer_offsets
            self._operate("read_generations", self.history)
        self._read_more()
        self._read_configs()
        self.cluster.is_over = True
        for broker in self.cluster.brokers:
            self._stop_broker(broker)
        if brokers > 1:
            self._read_replicas()
        return [*check(self.history), *self._broken_processes()]

    def _read_more(self) -> None:
        """Tell the history what else can be asked of the brokers at the end."""

    def _let_groups_catch_up(self) -> None:
        """Wait until each group has read what was acknowledged; tell the history which ones cannot."""
        self.history.is_sending_over = True
        producers = [client for client in self.clients if client not in self._consumers]
        self.world.wait_until(lambda: not any(each.is_running for each in producers), SETTLE_S, "producers to end")
        if not self._wait_for_groups() and self._cannot_commit():
            self._operate("add_replicas", GROUP_METADATA_TOPIC_NAME, self._replicas)
            self._operate("await_replicas", {GROUP_METADATA_TOPIC_NAME: 1}, self._replicas)
            self._wait_for_groups()
        self.history.behind = self._behind()

    def _wait_for_groups(self) -> bool:
        """Returns whether they have caught up in time."""
        timeout_s = HALF_OPEN_S if self._broker_faults.power_failed else self.catch_up_s
        try:
            self.world.wait_until(self._has_caught_up, timeout_s, "groups to catch up")
        except TimeoutError:
            return False
        return True

    def _cannot_commit(self) -> bool:
        """Whether ``__consumer_offsets`` has fewer replicas than must be in sync, so that no group can store anything.

        As in Kafka 0.10.2 (until KAFKA-3959), it has no more than there were live brokers when somebody first looked
        for a coordinator: one, if the two others had lost their ZooKeeper sessions. It stays like that until an
        operator adds replicas. This is checked only after the groups' wait has failed, so other runs are not disturbed.
        """
        controller = self.cluster.controller()
        return controller is not None and any(
            len(replicas) < controller.parts.config.min_insync_replicas
            for partition, replicas in controller.parts.controller.context.partition_replica_assignment.items()
            if partition.topic == GROUP_METADATA_TOPIC_NAME
        )

    def _has_caught_up(self) -> bool:
        """Whether the groups have read what they can."""
        return not self._behind()

    def _behind(self) -> list[tuple[str, int, int, int]]:
        """Topic, partition, how far it was read, and the last acknowledged offset, where a group has more to read."""
        read, last = self._polled.now(), self._to_be_read()
        return [(*at, read.get(at, -1), offset) for at, offset in last.items() if read.get(at, -1) < offset]

    def _to_be_read(self) -> Mapping[tuple[str, int], int]:
        """The last acknowledged record of each partition that groups must get."""
        return {at: offset for at, offset in self._acknowledged.now().items() if at[0] in self._read_topics}

    def _read_configs(self) -> None:
        """Tell the history which configurations the brokers' logs have, once the last alterations have arrived."""
        before = self.history.applied_configs
        with contextlib.suppress(TimeoutError):
            self.world.wait_until(lambda: not any(self._forgotten_configs()), NOTIFIED_S, "configurations")
        self.history.applied_configs = before + self.history.applied_configs

    def _forgotten_configs(self) -> Iterator[str]:
        self.history.applied_configs = [
            (broker.number, log.topic_partition.topic, dict(log.config.overridden))
            for broker in self.cluster.brokers
            if broker.parts is not None
            for log in broker.parts.log_manager.all_logs()
        ]
        return forgotten_configs(self.history)

    def _stop_broker(self, broker: Broker) -> None:
        broker.stop()
        self._await_end(broker.running(), "a clean stop of a broker")

    def _await_end(self, process: Process, what: str) -> None:
        self.world.wait_until(lambda: not process.is_running, SETTLE_S, what)

    def _read_replicas(self) -> None:
        """Tell the history what is in each replica's files."""
        for broker in self.cluster.brokers:
            reader = broker.machine.start(
                OPERATOR_PROGRAMS + "read_replica", broker.number, str(broker.machine.folder / "data"),
                dict(self.topics), self.history, name="read_replica",
            )  # fmt: skip
            self._await_end(reader, "reading a replica")

    def _broken_processes(self) -> list[Violation]:
        """Programs and threads that ended with an exception."""
        found = [
            Violation("program failed", f"{process.name}: {process.failure}")
            for process in self.world.processes
            if process.failure and not self._may_fail(process.failure)
        ]
        return found + [
            Violation("thread failed", text) for process in self.world.processes for text in process.uncaught
        ]

    def _may_fail(self, failure: str) -> bool:
        """Whether a broker may end with this traceback: it lacked something, or ZooKeeper. It is started again."""
        last_line = failure.rstrip().rpartition("\n")[2]
        kind = last_line.partition(":")[0].rpartition(".")[2]
        is_full = any(text in last_line for text in NO_ROOM)
        return kind == STOPPED or is_full or (len(self.cluster.brokers) > 1 and kind in NO_ZOOKEEPER)

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def suffer(self, fault: Fault) -> None:
        """Let one thing go wrong, and end it."""
        self.world.note(f"fault: {fault}")
        span = Span(str(fault), self.world.scheduler.now_ns)
        self.world.suffering.append(span)
        self.apply(fault)
        span.ended_ns = self.world.scheduler.now_ns
        self.world.sleep(fault.after_s)

    def apply(self, fault: Fault) -> None:
        """Let the fault happen, and wait until it is over."""
        if fault.kind is Kind.KILL_CONSUMER:
            self._kill_consumer(fault)
        elif fault.kind is Kind.PAUSE_CONSUMER:
            self._pause_consumer(fault)
        else:
            self._broker_faults.apply(fault)

    def _kill_consumer(self, fault: Fault) -> None:
        consumer, start = self._drawn_consumer(fault)
        if consumer is None:
            return
        self.clients.remove(consumer)
        consumer.kill()
        self.world.sleep(fault.duration_s)
        start()

    def _pause_consumer(self, fault: Fault) -> None:
        consumer, _ = self._drawn_consumer(fault)
        if consumer is None:
            return
        consumer.pause()
        self.world.sleep(fault.duration_s)
        consumer.resume()

    def _drawn_consumer(self, fault: Fault) -> tuple[Process | None, Callable[[], None]]:
        """A consumer, or another client that may be killed, and how to start it again; None while there is none."""
        consumers = [client for client in self.clients if client in self._successors]
        if not consumers:
            return None, lambda: None
        consumer = consumers[int(fault.amount * len(consumers))]
        return consumer, self._successors[consumer]
