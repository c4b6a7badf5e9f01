"""The simulator's workload of Connect: a group of workers, a verifiable source and a verifiable sink.

Not in Kafka. The source numbers its records, so that a gap shows a lost one, and the sink says which it has flushed.
"""

from __future__ import annotations

from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.connect.facts import Facts
from kafka_lite.testing.simulation.connect.programs import NUMBERS, OFFSETS, TOPICS
from kafka_lite.testing.simulation.connect.verdict import judge
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.workload import Workload

CONNECT_PROGRAMS: Final = "kafka_lite.testing.simulation.connect.programs:"
CAUGHT_UP_S: Final = 180.0
"""How long the workers have to stop the source and to flush what the sink has: several rebalances."""
GROUPS_STAY: Final = {"offsets.retention.check.interval.ms": "86400000"}
"""A group without members stays: otherwise its generations would begin with 1 again."""
BROKER_CLOCK: Final = {"message.timestamp.type": "LogAppendTime"}
NOTHING_IS_CLEANED: Final = {"cleanup.policy": "compact", "min.compaction.lag.ms": "86400000"}
"""Internal topics are compacted, but not before the end of the run, when they are read."""


class ConnectWorkload(Workload):
    """Each worker has a machine of its own, and one that takes another's place has its address."""

    def start_group(self, workers: int) -> None:
        """Create the topics, start the workers, and create the connectors."""
        self.facts = Facts()
        self.catch_up_s = CAUGHT_UP_S
        for topic, partitions in TOPICS.items():
            configs = {} if topic == NUMBERS else dict(NOTHING_IS_CLEANED)
            configs |= BROKER_CLOCK if topic in (NUMBERS, OFFSETS) else {}
            self._operate("create_topic", topic, partitions, self._replicas, configs)
        self._workers = [self.world.machine(f"worker-{number}") for number in range(workers)]
        for machine in self._workers:
            self._start_worker(machine.name)
        hosts = [machine.ip for machine in self._workers]
        operator = self._start_client("operator", "operator", hosts, self.facts, self.history, module=CONNECT_PROGRAMS)
        self._consumers.add(operator)

    def _start_worker(self, name: str) -> None:
        machine = self.world.machine(name.rstrip("+"))
        args = self.cluster.bootstrap, machine.ip, self.facts, self.history
        worker = machine.start(CONNECT_PROGRAMS + "worker", *args, name=name)
        self.clients.append(worker)
        self._reads_to_the_end(worker, lambda: self._start_worker(f"{name}+"))

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def apply(self, fault: Fault) -> None:
        """Also what only a group of workers suffers."""
        if fault.kind is Kind.FAIL_TASK:
            self.facts.failures_due += 1
            self.world.sleep(fault.duration_s)
        elif fault.kind in (Kind.CUT_WORKER, Kind.CUT_WORKERS):
            self._cut_worker(fault)
        else:
            super().apply(fault)

    def _cut_worker(self, fault: Fault) -> None:
        """Cut a worker off from the broker, or from the next worker, at which its requests then end in a time-out."""
        number = int(fault.amount * 1000) % len(self._workers)
        other = self.broker.machine if fault.kind is Kind.CUT_WORKER else self._workers[number - 1]
        links = [(self._workers[number].name, other.name), (other.name, self._workers[number].name)]
        for link in links:
            self.world.network.cut(*link)
        self.world.sleep(fault.duration_s)
        for link in links:
            self.world.network.heal(*link)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _has_caught_up(self) -> bool:
        return self.facts.is_source_stopped and self.facts.acknowledged <= self.facts.flushed

    def _behind(self) -> list[tuple[str, int, int, int]]:
        """None: ``finish`` says what the sink has lost."""
        return []

    def _read_more(self) -> None:
        self._operate_connect("read_topics")

    def _operate_connect(self, program: str) -> None:
        self._await_success(self._start(program, self.facts, module=CONNECT_PROGRAMS))

    def finish(self) -> list[Violation]:
        """Let the sink flush what is left, and judge."""
        found = super().finish()
        facts = self.facts
        self.world.note(
            f"{len(facts.produced)} records, {len(facts.offsets)} offsets, {len(facts.reports)} statuses, "
            f"{facts.failures} tasks failed, {facts.restarts} requests to restart them"
        )
        return [*found, *judge(facts)]
