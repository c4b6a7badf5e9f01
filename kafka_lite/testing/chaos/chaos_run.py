"""One run: a cluster, clients, rounds of faults, and the judgement at the end.

Kafka 0.10.2: tests/kafkatest/tests/produce_consume_validate.py, tests/kafkatest/tests/core/replication_test.py ·
book 6.2.2
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.chaos.chaos_clients import ChaosClients
from kafka_lite.testing.chaos.chaos_cluster import ChaosCluster
from kafka_lite.testing.chaos.chaos_security import ChaosSecurity
from kafka_lite.testing.chaos.fault_maker import FaultMaker
from kafka_lite.testing.chaos.faults import Fault, Kind, draw_faults
from kafka_lite.testing.chaos.workloads import WORKLOADS
from kafka_lite.testing.history.checker import Violation, check
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation import operator_programs

REPLICAS: Final = 3
ROUND_S: Final = 45.0
"""How long faults begin in a round. Then all of them end, and the cluster must recover."""
HUNG_S: Final = 60.0
"""After how long without progress a client of librdkafka is replaced."""
LOOKS_FOR_HUNG: Final = 2
"""How often they are looked for in one wait."""
SETTLE_S: Final = 180.0
"""How long the cluster has to recover, and clients to finish: their longest timeouts are shorter."""
MOST_AT_ONCE: Final = 3
"""Faults that overlap."""
POLL_S: Final = 0.2


@dataclass
class Result:
    """The history of a run and its findings."""

    seed: int
    history: History = field(default_factory=History)
    violations: list[Violation] = field(default_factory=list)
    faults: Counter[Kind] = field(default_factory=Counter)
    duration_s: float = 0.0
    replaced: list[str] = field(default_factory=list)
    """Clients of librdkafka that hung, and had to be replaced: see ``ChaosClients.replace_hung``."""

    @property
    def checked(self) -> int:
        """Records that the checker has looked at: those in the log and those that consumers got."""
        return len(self.history.stored) + len(self.history.polled)


class ChaosRun:
    """Runs for a time and judges. ``report`` gets a line for every event, and may be called by any thread."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        duration_s: float,
        brokers: int = 3,
        *,
        kinds: Sequence[Kind] = tuple(Kind),
        records_per_s: float = 20.0,
        overrides: Mapping[str, str] | None = None,
        workload: str = "plain",
        kafka_version: str = "",
        is_secured: bool = False,
        report: Callable[[str], None] = print,
    ) -> None:
        self.result = Result(seed)
        self._workload = WORKLOADS[workload]
        self._workload.prepare(self.result.history)
        self.current: dict[int, str] = {}
        """The faults in progress, by number."""
        self._security = ChaosSecurity() if is_secured else None
        self.cluster = ChaosCluster(folder, brokers, overrides, kafka_version, self._security)
        self._clients = ChaosClients(folder / "clients", self.result.history, seed)
        self._duration_s = duration_s
        self._records_per_s = records_per_s
        self._report = report
        self._faults = draw_faults(Random(seed), kinds)
        self._topics = self._workload.topics
        self._partitions = [
            TopicPartition(topic, number) for topic, count in self._topics.items() for number in range(count)
        ]
        self._maker = FaultMaker(self.cluster, self._clients, self._partitions)
        self._is_over = threading.Event()
        self._has_log = False
        """Whether the log was read at the end, so that the history can be judged by it."""

    def run(self) -> Result:
        """Start everything, suffer, recover, stop everything, judge."""
        began = time.monotonic()
        with self.cluster, self._killing_clients():
            self._start()
            with self._supervised():
                self._suffer(time.monotonic() + self._duration_s)
                self._finish()
            self._stop()
        if self._has_log:
            self.result.violations += check(self.result.history)
        self.result.duration_s = time.monotonic() - began
        return self.result

    @contextmanager
    def _killing_clients(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._maker.is_over.set()
            self._clients.kill()

    def _violate(self, rule: str, text: str) -> None:
        self.result.violations.append(Violation(rule, text))
        self._report(f"{rule}: {text}")

    # ── start ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> None:
        theirs = [str(broker.id) for broker in self.cluster.brokers if broker.kafka_version]
        kinds = f" (Kafka's: {', '.join(theirs)})" if theirs else ""
        self._report(f"{len(self.cluster.brokers)} brokers{kinds}, seed {self.result.seed}")
        for topic, partitions in self._topics.items():
            operator_programs.create_topic(self.cluster.bootstrap_servers, topic, partitions, REPLICAS, {})
        specs = list(self._workload.clients(self.cluster.bootstrap_through_network, self._records_per_s))
        if self._security is not None:
            with self.cluster.client(self.cluster.brokers[0]) as operator:
                self._security.allow(operator, specs)
            specs = [dataclasses.replace(spec, configs=self._security.client_configs(spec)) for spec in specs]
        for spec in specs:
            self._clients.start(spec)

    @contextmanager
    def _supervised(self) -> Iterator[None]:
        """Start brokers again that have ended, and read what clients write, while the block runs."""
        supervisor = threading.Thread(target=self._supervise, name="supervisor", daemon=True)
        supervisor.start()
        try:
            yield
        finally:
            self._is_over.set()
            supervisor.join()

    def _supervise(self) -> None:
        while not self._is_over.wait(POLL_S):
            self._clients.read_histories()
            for text in self.cluster.restart_ended():
                self._violate("broker ended", text)

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _suffer(self, deadline: float) -> None:
        """Rounds of faults until the deadline, or until the cluster does not recover from one."""
        while self._recover() and time.monotonic() < deadline:
            self._round(min(deadline, time.monotonic() + ROUND_S))

    def _round(self, deadline: float) -> None:
        threads: list[threading.Thread] = []
        while time.monotonic() < deadline:
            fault = next(self._faults)
            while len(self.current) >= MOST_AT_ONCE:
                time.sleep(POLL_S)
            self.current[fault.number] = str(fault)
            threads.append(threading.Thread(target=self._apply, args=[fault], name=fault.kind.name, daemon=True))
            threads[-1].start()
            time.sleep(min(fault.after_s, max(deadline - time.monotonic(), 0)))
        for thread in threads:
            thread.join()

    def _apply(self, fault: Fault) -> None:
        self._report(f"fault {fault.number}: {fault}")
        try:
            sufferer = self._maker.apply(fault)
        except Exception as failure:  # noqa: BLE001  a fault that fails is the run's failure
            self._violate("fault failed", f"{fault}: {failure!r}")
            sufferer = ""
        finally:
            del self.current[fault.number]
        if sufferer:
            self.result.faults[fault.kind] += 1
        self._report(f"  end of fault {fault.number}: {sufferer or 'not possible now'}")

    # ── recovery ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _recover(self) -> bool:
        """Wait until all replicas are in sync and all clients make progress. False and a violation if they do not."""
        began = time.monotonic()
        if not self._await_replicas():
            return False
        before = self._clients.progress()
        if not self._eventually_without_hung(lambda: not self._stuck_since(before)):
            self._violate("stuck client", f"nothing in {SETTLE_S:.0f} s for {', '.join(self._stuck_since(before))}")
            return False
        self._report(f"recovered in {time.monotonic() - began:.1f} s: {self.result.history.summary()}")
        return True

    def _await_replicas(self) -> bool:
        """Wait until all replicas are in sync. False and a violation if they are not."""
        if _eventually(lambda: not self._not_in_sync(), HUNG_S):
            return True
        self._restart_those_that_need_it()
        if _eventually(lambda: not self._not_in_sync()):
            return True
        self._violate("not recovered", f"after {HUNG_S + SETTLE_S:.0f} s: {self._not_in_sync()}")
        return False

    def _eventually_without_hung(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; twice before the wait is over, replace what is known to hang.

        Twice, because a client that progresses a little before it hangs, and blocks its group, escapes the first look.
        """
        for _ in range(LOOKS_FOR_HUNG):
            before = self._progress_of_each()
            if _eventually(condition, HUNG_S):
                return True
            self._restart_those_that_need_it()
            self._note_hung(self._clients.replace_hung(before))
        return _eventually(condition)

    def _restart_those_that_need_it(self) -> None:
        for broker_id, why in self.cluster.restart_those_that_need_it().items():
            self._report(f"Kafka's broker {broker_id} {why}, and was started again")

    def _progress_of_each(self) -> dict[str, int]:
        return {
            client.name: client.file.progress
            for producers in (True, False)
            for client in self._clients.running(producers=producers)
        }

    def _note_hung(self, names: list[str]) -> None:
        self.result.replaced += names
        for name in names:
            self._report(f"{name} hung, and was replaced")

    def _not_in_sync(self) -> str:
        """The partitions that lack a replica, or that have too many while they are being reassigned; "" if none."""
        try:
            partitions, isrs = self.cluster.zookeeper.partitions(), self.cluster.zookeeper.isrs()
        except KafkaError as failure:
            return repr(failure)
        return ", ".join(
            f"{partition} has {isrs.get(partition)} of {replicas}"
            for partition, replicas in partitions.items()
            if len(replicas) != REPLICAS or set(isrs.get(partition, ())) != set(replicas)
        )

    def _stuck_since(self, before: Counter[str]) -> list[str]:
        now = self._clients.progress()
        return [name for name, count in before.items() if now[name] <= count]

    # ── end ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _finish(self) -> None:
        """Let the producers end, read the log, and let the groups read to its end."""
        self._await_end_of_clients(producers=True)
        if not self._await_replicas():
            return
        self._await_transformations()
        history = self.result.history
        operator_programs.read_everything(self.cluster.bootstrap_servers, self._topics, history)
        self._has_log = True
        self._workload.read_visible(self.cluster.bootstrap_servers, history)
        groups = {client.spec.group: client.spec.topic for client in self._clients.running(producers=False)}
        if self._eventually_without_hung(lambda: not self._left_to_read(groups)):
            history.finished_groups = groups
        else:
            self._violate("stuck group", self._left_to_read(groups))
        self._await_end_of_clients(producers=False)
        for partition, replicas in self.cluster.zookeeper.partitions().items():
            history.hosts[partition] = replicas

    def _await_transformations(self) -> None:
        """Wait until all transactions have ended, and each record is transformed; end the transformers."""
        bootstrap = self.cluster.bootstrap_servers
        if not self._eventually_without_hung(lambda: not self._workload.unsettled(bootstrap)):
            self._violate("unsettled", self._workload.unsettled(bootstrap))
        self._clients.end_transformers()
        if not _eventually(lambda: not self._transforming()):
            self._violate("stuck client", f"{', '.join(self._transforming())} did not end in {SETTLE_S:.0f} s")
        self._clients.read_histories()

    def _transforming(self) -> list[str]:
        return [client.name for client in self._clients.running(producers=False) if client.spec.target]

    def _await_end_of_clients(self, *, producers: bool) -> None:
        self._clients.end(producers=producers)
        if not _eventually(lambda: not self._clients.running(producers=producers), HUNG_S):
            self._restart_those_that_need_it()
            self._note_hung(self._clients.kill_hung(producers=producers))
        if not _eventually(lambda: not self._clients.running(producers=producers)):
            names = [client.name for client in self._clients.running(producers=producers)]
            self._violate("stuck client", f"{', '.join(names)} did not end in {SETTLE_S:.0f} s")
        self._clients.read_histories()

    def _left_to_read(self, groups: Mapping[str, str]) -> str:
        """Partitions whose last record no member of the group has got; "" if there is none."""
        ends: dict[tuple[str, int], int] = defaultdict(int)
        for stored in self.result.history.readable():
            at = stored.place.topic, stored.place.partition
            ends[at] = max(ends[at], stored.place.offset)
        got = {(self.result.history.groups[polled.consumer], polled.place) for polled in self.result.history.polled}
        return ", ".join(
            f"{group} has not got offset {end} of {topic}-{number}"
            for group, read in groups.items()
            for (topic, number), end in ends.items()
            if topic == read and (group, (topic, number, end)) not in got
        )

    def _stop(self) -> None:
        """Stop the brokers cleanly, and read the files of all replicas."""
        for text in self._clients.failures():
            self._violate("client failed", text)
        for broker in self.cluster.brokers:
            if code := broker.stop():
                self._violate("unclean stop", f"broker {broker.id} ended with {code}:\n{broker.end_of_log()}")
        if self._has_log:
            for broker in self.cluster.brokers:
                operator_programs.read_replica(broker.id, str(broker.log_dir), self._topics, self.result.history)


def _eventually(condition: Callable[[], bool], timeout_s: float = SETTLE_S) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(POLL_S)
    return condition()
