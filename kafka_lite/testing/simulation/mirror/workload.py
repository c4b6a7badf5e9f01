"""The simulator's workload of mirrors: a group of MirrorMakers between two brokers.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.broker_faults import BrokerFaults
from kafka_lite.testing.simulation.cluster import OPERATOR_PROGRAMS, BrokerCluster
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.mirror.facts import COPIES, ORIGINALS, Facts
from kafka_lite.testing.simulation.mirror.verdict import judge
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.workload import Workload
from kafka_lite.testing.simulation.world import World

MIRROR_PROGRAMS: Final = "kafka_lite.testing.simulation.mirror.programs:"
TARGET: Final = "target"
"""The machine of the target's broker."""
INTERVALS_MS: Final = (200, 1_000, 5_000)
CAUGHT_UP_S: Final = 240.0
"""How long the mirrors have to copy what is left: several rebalances, and connections to a broker that is gone."""
OF_MIRRORS: Final = (Kind.KILL_CONSUMER, Kind.PAUSE_CONSUMER, Kind.JUMP_CLIENTS)
"""Faults that neither broker suffers."""


class MirrorWorkload(Workload):
    """A producer writes ORIGINALS, and mirrors copy it to COPIES of another broker, with another number of partitions.

    ::

        producer ─▶ ORIGINALS ─▶ mirrors ─▶ COPIES ─▶ witness
                     source        │         target
                       ▲───────────┘
                       offsets, of records that the target has acknowledged
    """

    def __init__(self, world: World, properties: Mapping[str, str] | None = None) -> None:
        super().__init__(world, properties)
        self.target = BrokerCluster(world, 1, properties or {}, TARGET)
        self._target_faults = BrokerFaults(
            world, self.target, self._stop_broker, self._machine, {COPIES: 1}, self.history
        )

    def start_mirrors(self, mirrors: int, load: Load, copies: int) -> None:
        """Create both topics and start everything. ``copies`` is the number of partitions of COPIES."""
        self.facts = Facts()
        self.catch_up_s = CAUGHT_UP_S
        self._partitions = copies
        self.target.start()
        self.create_topic(ORIGINALS, load.partitions)
        creating = OPERATOR_PROGRAMS + "create_topic"
        self._await_success(self._machine.start(creating, self.target.bootstrap, COPIES, copies, 1, {}))
        self.produce("producer", load)
        for number in range(mirrors):
            self.mirror(f"mirror-{number}", self.random.randint(1, 2), self.random.choice(INTERVALS_MS))
        args = self.target.bootstrap, "witness", copies, self.facts, self.history
        witness = self._machine.start(MIRROR_PROGRAMS + "witness", *args, name="witness")
        self.clients.append(witness)
        self._consumers.add(witness)

    def mirror(self, name: str, streams: int, interval_ms: int) -> None:
        """Start a mirror that commits so often. Another one takes its place if it is killed."""
        args = self.target.bootstrap, streams, interval_ms, self.history
        mirror = self._start_client("mirror", name, *args, module=MIRROR_PROGRAMS)
        self._reads_to_the_end(mirror, lambda: self.mirror(f"{name}+", streams, interval_ms))

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def apply(self, fault: Fault) -> None:
        """A broker's fault is one of the source or of the target."""
        if fault.kind is Kind.KILL_MIRRORS:
            self._kill_before_the_acknowledgement(fault)
        elif fault.kind not in OF_MIRRORS and int(fault.amount * 1000) % 2:
            self._target_faults.apply(fault)
        else:
            super().apply(fault)

    def _kill_before_the_acknowledgement(self, fault: Fault) -> None:
        """The target does not respond, or is not reached at all, until all mirrors are killed: no commit is due."""
        clients, target = self._machine.name, self.target.brokers[0].machine.name
        links = [(target, clients), (clients, target)][: 1 + int(fault.amount * 2)]
        for link in links:
            self.world.network.cut(*link)
        self.world.sleep(fault.duration_s)
        mirrors = [client for client in self.clients if client in self._successors]
        for mirror in mirrors:
            self.clients.remove(mirror)
            mirror.kill()
        for link in links:
            self.world.network.heal(*link)
        for mirror in mirrors:
            self._successors[mirror]()

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _has_caught_up(self) -> bool:
        """Whether everything has been copied."""
        return all(record.value in self.facts.seen for record, _ in self.history.acknowledged)

    def _read_more(self) -> None:
        """Read the copies, and stop the target."""
        reading = (self.target.bootstrap, self._partitions, self.facts)
        self._await_success(self._machine.start(MIRROR_PROGRAMS + "read_copies", *reading, name="read_copies"))
        self.target.is_over = True
        self._stop_broker(self.target.brokers[0])

    def finish(self) -> list[Violation]:
        """Let everything end, and judge."""
        return [*super().finish(), *judge(self.history, self.facts)]
