"""The cost of replication and of the controller, in clusters of three brokers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.brokers import Candidate
from bench.clusters import Cluster
from bench.librdkafka import BATCH_1_MB, BATCH_16_KB, Produce, RoundTrip
from bench.measure import (
    CPU,
    MESSAGES,
    P50,
    P99,
    SECONDS,
    Goal,
    Sample,
    Study,
    ratio_at_least,
    ratio_at_most,
    value_at_most,
)

IDLE_CPU = "CPU of all brokers, ms/s"
PER_PARTITION = "ms a partition"
GROWTH = "last step over an earlier one"
RUNS = 3
IDLE_S = 5.0
"""How long idle brokers are watched."""


@dataclass(frozen=True)
class Replication:
    """Producing to three replicas, followers with nothing to do, and a broker that dies."""

    scale: float

    def study(self, rounds: int) -> Study:
        """The study, for the report."""
        return Study("Replication, three brokers", self.workloads, self.run, rounds)

    @property
    def _produce(self) -> list[Produce]:
        return [
            Produce(size, "all", "none", batch_bytes, max(1000, int(messages * self.scale)))
            for size, messages in ((100, 200_000), (1000, 30_000))
            for batch_bytes in (BATCH_16_KB, BATCH_1_MB)
        ]

    @property
    def _partitions(self) -> int:
        return max(30, int(1000 * self.scale))

    @property
    def workloads(self) -> Mapping[str, Mapping[str, Goal]]:
        """The reported workloads and their goals."""
        fast: Mapping[str, Goal] = {MESSAGES: ratio_at_least(1.0), CPU: ratio_at_most(1.0)}
        partitions = f"{self._partitions:,} partitions"
        return {
            **{each.name: fast for each in self._produce},
            RoundTrip(0).name: {P50: ratio_at_most(1.0), P99: ratio_at_most(1.0)},
            f"{partitions} without traffic": {IDLE_CPU: ratio_at_most(1.0)},
            f"{partitions}, kill -9 of a broker: all led again, from the end of its session": {
                SECONDS: ratio_at_most(1.0)
            },
        }

    def run(self, candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> Mapping[str, Sample]:
        """Run everything on one cluster."""
        samples: list[Sample] = []
        tell("starting three brokers, warming up")
        with Cluster(candidate, folder / "cluster") as cluster:
            cluster.create_topic("replicated", partitions=1)
            Produce(100, "all", "none", BATCH_16_KB, int(200_000 * self.scale) + 1000).run_on(cluster, "replicated")
            RoundTrip(int(1000 * self.scale) + 100).run_on(cluster, "replicated")
            for workload in self._produce:
                tell(workload.name)
                runs = [workload.run_on(cluster, "replicated") for _ in range(RUNS)]
                samples.append(medians(runs))
            tell("small messages")
            round_trip = RoundTrip(max(200, int(2000 * self.scale)))
            samples.append(medians([round_trip.run_on(cluster, "replicated") for _ in range(RUNS)]))
            tell("idle partitions")
            cluster.create_topic("idle", self._partitions)
            samples.append(idle_cpu(cluster))
            tell("kill -9")
            samples.append(fail_over(cluster, "idle"))
        return dict(zip(self.workloads, samples, strict=True))


@dataclass(frozen=True)
class ManyPartitionsControlled:
    """Topics are created until there are 5,000 partitions of three replicas; at each step a controller starts."""

    scale: float

    def study(self, rounds: int) -> Study:
        """The study, for the report."""
        return Study("Controller, three brokers", self.workloads, self.run, rounds)

    @property
    def _totals(self) -> Sequence[int]:
        return [max(10, int(total * self.scale)) for total in (1250, 2500, 5000)]

    @property
    def workloads(self) -> Mapping[str, Mapping[str, Goal]]:
        """The reported workloads and their goals."""
        steps: dict[str, Mapping[str, Goal]] = {}
        for total in self._totals:
            steps[f"topic creation, up to {total:,} partitions"] = {PER_PARTITION: ratio_at_most(1.0)}
            steps[f"controller start, {total:,} partitions"] = {SECONDS: ratio_at_most(1.0)}
        linear = {GROWTH: value_at_most(1.3)}
        return steps | {"topic creation, ms a partition": linear, "controller start, ms a partition": linear}

    def run(self, candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> Mapping[str, Sample]:
        """Run everything on one cluster."""
        creations: list[float] = []
        starts: list[float] = []
        tell("starting three brokers")
        with Cluster(candidate, folder / "cluster") as cluster:
            cluster.create_topic("warm-up", max(10, int(200 * self.scale)))
            before = 0
            for total in self._totals:
                tell(f"creating {total:,} partitions")
                began = time.perf_counter()
                cluster.create_topic(f"up-to-{total}", total - before)
                creations.append((time.perf_counter() - began) / (total - before) * 1e3)
                tell(f"another controller, {total:,} partitions")
                starts.append(controller_start(cluster, f"after-{total}"))
                before = total
        samples: list[Sample] = []
        for creation, start in zip(creations, starts, strict=True):
            samples += [{PER_PARTITION: creation}, {SECONDS: start}]
        # The first start is short, and what does not depend on partitions is most of it: compare the last two.
        per_partition = [start / total for start, total in zip(starts, self._totals, strict=True)]
        samples += [{GROWTH: creations[-1] / creations[0]}, {GROWTH: per_partition[-1] / per_partition[-2]}]
        return dict(zip(self.workloads, samples, strict=True))


def medians(samples: Sequence[Sample]) -> Sample:
    """The median of each figure."""
    return {figure: statistics.median(sample[figure] for sample in samples) for figure in samples[0]}


def idle_cpu(cluster: Cluster) -> Sample:
    """The resources that idle brokers use."""
    time.sleep(2)  # the end of the topic's creation
    before, began = cluster.cpu_s(), time.perf_counter()
    time.sleep(IDLE_S)
    return {IDLE_CPU: (cluster.cpu_s() - before) / (time.perf_counter() - began) * 1e3}


def fail_over(cluster: Cluster, topic: str) -> Sample:
    """Kill a broker; the time from the end of its session until another broker's metadata has new leaders for all."""
    killed, gone_at = cluster.kill_a_broker()
    other = min(each for each in cluster.ids if each != killed)
    cluster.await_condition(
        "all partitions are led again", lambda: not {killed, -1} & set(cluster.leaders(other, topic))
    )
    return {SECONDS: time.perf_counter() - gone_at}


def controller_start(cluster: Cluster, topic: str) -> float:
    """Depose the controller; the time until the next one has created a topic, in seconds."""
    began = time.perf_counter()
    cluster.depose_the_controller()
    cluster.create_topic(topic, partitions=1)
    return time.perf_counter() - began
