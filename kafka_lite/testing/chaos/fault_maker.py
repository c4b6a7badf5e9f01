"""Makes things go wrong in the processes of a run, and right again.

Kafka 0.10.2: tests/kafkatest/tests/core/replication_test.py (clean_shutdown, hard_bounce, ...) · book 7.2
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.chaos.chaos_clients import ChaosClient, ChaosClients
from kafka_lite.testing.chaos.chaos_cluster import ChaosBroker, ChaosCluster
from kafka_lite.testing.chaos.faults import Fault, Kind
from kafka_lite.testing.network.cluster_network import CLIENTS, ZOOKEEPER, Machine

POLL_S: Final = 0.1
OUT_OF_ISRS_S: Final = 20.0
"""How long a killed broker has to leave all ISRs before it gets an empty disk."""


class FaultMaker:
    """Applies faults to the brokers, ZooKeeper, the network and the clients of a run."""

    def __init__(self, cluster: ChaosCluster, clients: ChaosClients, topics: Sequence[TopicPartition]) -> None:
        self._cluster = cluster
        self._clients = clients
        self._topics = topics
        self.is_over = threading.Event()
        """Ends the faults in progress."""

    def apply(self, fault: Fault) -> str:
        """Apply one fault, and end it. Returns the name of its target; "" if it was not possible at the moment."""
        return _APPLY[fault.kind](self, fault)

    def _wait(self, fault: Fault) -> None:
        self.is_over.wait(fault.duration_s)

    def _chosen(self, fault: Fault) -> ChaosBroker:
        brokers = self._cluster.brokers
        if fault.kind is Kind.KILL_CONTROLLER and (controller := self._cluster.controller_if_any()) is not None:
            return controller
        return brokers[int(fault.amount * len(brokers))]

    def _pair(self, fault: Fault) -> tuple[ChaosBroker, ChaosBroker]:
        first, second = Random(fault.amount).sample(self._cluster.brokers, 2)
        return first, second

    # ── processes ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _with_broker(self, fault: Fault, suffer: Callable[[ChaosBroker], None]) -> str:
        """Apply a fault to a running broker that no other fault may interfere with."""
        broker = self._chosen(fault)
        with self._cluster.holding(broker.id) as is_free:
            if not is_free or not broker.is_running:
                return ""
            suffer(broker)
        return f"broker {broker.id}"

    def _kill(self, fault: Fault) -> str:
        def suffer(broker: ChaosBroker) -> None:
            broker.kill()
            self._wait(fault)
            broker.start()

        return self._with_broker(fault, suffer)

    def _stop(self, fault: Fault) -> str:
        def suffer(broker: ChaosBroker) -> None:
            broker.stop()
            self._wait(fault)
            broker.start()

        return self._with_broker(fault, suffer)

    def _pause(self, fault: Fault) -> str:
        def suffer(broker: ChaosBroker) -> None:
            broker.pause()
            self._wait(fault)
            broker.resume()

        return self._with_broker(fault, suffer)

    def _lose_disk(self, fault: Fault) -> str:
        """Only once no ISR has the broker: Kafka promises nothing if a member of the ISR comes back without its log."""

        def suffer(broker: ChaosBroker) -> None:
            broker.kill()
            if self._has_left_all_isrs(broker):
                broker.empty_disk()
            self._wait(fault)
            broker.start()

        return self._with_broker(fault, suffer)

    def _has_left_all_isrs(self, broker: ChaosBroker) -> bool:
        deadline = time.monotonic() + OUT_OF_ISRS_S
        while time.monotonic() < deadline and not self.is_over.wait(POLL_S):
            with suppress(KafkaError):
                if all(broker.id not in isr for isr in self._cluster.zookeeper.isrs().values()):
                    return True
        return False

    def _fill_disk(self, fault: Fault) -> str:
        """No file of the process may grow. A broker whose log directories all fail ends by itself; if not, kill it."""

        def suffer(broker: ChaosBroker) -> None:
            broker.is_wanted = False
            limit_bytes = int(fault.amount * 100_000)
            with suppress(ProcessLookupError):
                resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))
            self._wait(fault)
            broker.kill()
            broker.start()

        return self._with_broker(fault, suffer)

    def _restart_zookeeper(self, fault: Fault) -> str:
        with self._cluster.holding(ZOOKEEPER) as is_free:
            if not is_free:
                return ""
            self._cluster.stop_zookeeper(hard=fault.kind is Kind.KILL_ZOOKEEPER)
            self._wait(fault)
            self._cluster.start_zookeeper()
        return "ZooKeeper"

    def _expire_session(self, fault: Fault) -> str:
        broker = self._chosen(fault)
        with self._cluster.holding(ZOOKEEPER) as is_free:
            if not is_free:
                return ""
            with suppress(KafkaError):
                return f"broker {broker.id}" if self._cluster.zookeeper.expire_broker(broker.id) else ""
        return ""

    # ── the network ───────────────────────────────────────────────────────────────────────────────────────────────

    def _cut(self, fault: Fault) -> str:
        first, second = self._pair(fault)
        ends: tuple[Machine, Machine] = (first.id, second.id)
        if fault.kind in (Kind.CUT_ZOOKEEPER, Kind.CUT_ZOOKEEPER_ONE_WAY):
            ends = (first.id, ZOOKEEPER)
        elif fault.kind is Kind.CUT_CLIENTS:
            ends = (CLIENTS, first.id)
        is_one_way = fault.kind in (Kind.CUT_BROKERS_ONE_WAY, Kind.CUT_ZOOKEEPER_ONE_WAY)
        with self._cluster.network.cut(*ends, one_way=is_one_way):
            self._wait(fault)
        return f"{_name(ends[0])} {'to' if is_one_way else 'and'} {_name(ends[1])}"

    def _isolate(self, fault: Fault) -> str:
        broker = self._chosen(fault)
        with self._cluster.network.isolate(broker.id):
            self._wait(fault)
        return f"broker {broker.id}"

    def _slow(self, fault: Fault) -> str:
        first, second = self._pair(fault)
        delay_ms, bytes_per_s = 50 + fault.amount * 1_500, 2_000 + fault.amount * 20_000
        with self._cluster.network.slow(first.id, second.id, delay_ms=delay_ms, bytes_per_s=bytes_per_s):
            self._wait(fault)
        return f"brokers {first.id} and {second.id}"

    def _reset(self, fault: Fault) -> str:
        broker = self._chosen(fault)
        self._cluster.network.reset(broker.id)
        return f"broker {broker.id}"

    # ── clients and partitions ────────────────────────────────────────────────────────────────────────────────────

    def _with_client(self, fault: Fault, suffer: Callable[[ChaosClient], None]) -> str:
        client = self._clients.take(is_producer=fault.kind is Kind.KILL_PRODUCER, amount=fault.amount)
        if client is None:
            return ""
        try:
            suffer(client)
        finally:
            self._clients.give_back(client)
        return client.name

    def _kill_client(self, fault: Fault) -> str:
        def suffer(client: ChaosClient) -> None:
            client.kill()
            self._wait(fault)
            self._clients.replace(client)

        return self._with_client(fault, suffer)

    def _pause_client(self, fault: Fault) -> str:
        def suffer(client: ChaosClient) -> None:
            client.pause()
            self._wait(fault)
            client.resume()

        return self._with_client(fault, suffer)

    def _reassign(self, fault: Fault) -> str:
        """Give a partition other replicas, or the same ones in another order."""
        random = Random(fault.amount)
        partition = random.choice(self._topics)
        replicas = [broker.id for broker in random.sample(self._cluster.brokers, 3)]
        controller = self._cluster.controller_if_any()
        if controller is None:
            return ""
        try:
            with self._cluster.client(controller) as client:
                client.reassign(*partition, replicas)
        except (KafkaError, OSError):
            return ""
        return f"{partition} to {', '.join(map(str, replicas))}"


def _name(machine: Machine) -> str:
    return f"broker {machine}" if isinstance(machine, int) else str(machine)


_APPLY: Final[dict[Kind, Callable[[FaultMaker, Fault], str]]] = {
    Kind.KILL: FaultMaker._kill, Kind.STOP: FaultMaker._stop, Kind.KILL_CONTROLLER: FaultMaker._kill,
    Kind.PAUSE: FaultMaker._pause, Kind.LOSE_DISK: FaultMaker._lose_disk, Kind.FULL_DISK: FaultMaker._fill_disk,
    Kind.CUT_BROKERS: FaultMaker._cut, Kind.CUT_BROKERS_ONE_WAY: FaultMaker._cut, Kind.ISOLATE: FaultMaker._isolate,
    Kind.CUT_ZOOKEEPER: FaultMaker._cut, Kind.CUT_ZOOKEEPER_ONE_WAY: FaultMaker._cut,
    Kind.CUT_CLIENTS: FaultMaker._cut, Kind.RESET: FaultMaker._reset, Kind.SLOW: FaultMaker._slow,
    Kind.EXPIRE_SESSION: FaultMaker._expire_session, Kind.KILL_ZOOKEEPER: FaultMaker._restart_zookeeper,
    Kind.STOP_ZOOKEEPER: FaultMaker._restart_zookeeper, Kind.KILL_CONSUMER: FaultMaker._kill_client,
    Kind.PAUSE_CONSUMER: FaultMaker._pause_client, Kind.KILL_PRODUCER: FaultMaker._kill_client,
    Kind.REASSIGN: FaultMaker._reassign,
}  # fmt: skip
