"""Runs the chosen workloads round by round and shows the progress."""

from __future__ import annotations

import contextlib
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from confluent_kafka import KafkaException
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from bench import timers
from bench.brokers import Broker, Candidate
from bench.contest import Contest
from bench.measure import Goal, Section, SkippedError, Study, Workload
from bench.report import Results, SectionResults, rich_table
from bench.sections import warm_up
from kafka_lite.common.errors import KafkaError

TIMERS = "A million timeouts"
OUTSTANDING_TIMEOUTS = 1_000_000
FAILURES = (RuntimeError, OSError, KafkaException, KafkaError, subprocess.SubprocessError)
"""Expected errors of a broker or client: the run continues and reports at the end that it is incomplete."""


@dataclass(frozen=True)
class Plan:
    """The parts to run: sections on shared brokers, studies that start their own, timers, and Python clients."""

    sections: Sequence[Section]
    studies: Sequence[Study]
    timeouts: int
    rounds: int
    contests: Sequence[Contest] = ()

    def only(self, texts: Sequence[str]) -> Plan:
        """The part of the plan whose names contain one of these texts."""
        if not texts:
            return self

        def chosen(part: str, workload: str) -> bool:
            return any(text.lower() in f"{part}: {workload}".lower() for text in texts)

        sections = [
            Section(part.name, left, part.max_rounds)
            for part in self.sections
            if (left := [each for each in part.workloads if chosen(part.name, each.name)])
        ]
        studies = [each for each in self.studies if any(chosen(each.name, workload) for workload in each.workloads)]
        contests = [
            replace(contest, workloads=some)
            for contest in self.contests
            if (some := [each for each in contest.workloads if chosen(contest.name, each.name)])
        ]
        wanted = any(chosen(TIMERS, workload) for workload in timers.WORKLOADS)
        return Plan(sections, studies, self.timeouts if wanted else 0, self.rounds, contests)

    def steps(self, brokers: int) -> int:
        """The number of workload and study runs."""
        running = sum(min(self.rounds, part.max_rounds) * len(part.workloads) for part in self.sections)
        clients = sum(part.rounds * len(part.workloads) * len(part.clients) for part in self.contests)
        return (running + sum(study.rounds for study in self.studies)) * brokers + clients + bool(self.timeouts)


class Runner:
    """Runs a plan, adding to ``results`` as it goes."""

    def __init__(self, candidates: Sequence[Candidate], reference: str, results: Results, console: Console) -> None:
        self._candidates = candidates
        self._reference = reference
        self._results = results
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._all = self._progress.add_task("all", total=None)
        self._now = self._progress.add_task("", total=None)
        self._live: Live | None = None

    def run(self, plan: Plan) -> None:
        """Run the whole plan."""
        self._progress.update(self._all, total=plan.steps(len(self._candidates)))
        with (
            tempfile.TemporaryDirectory(prefix="kafka-lite-bench-", ignore_cleanup_errors=True) as folder,
            Live(self._progress, console=self._console, refresh_per_second=4, transient=True) as self._live,
        ):
            if plan.sections:
                with self._running_brokers(Path(folder)) as brokers:
                    for section in plan.sections:
                        self._run_section(section, brokers, min(plan.rounds, section.max_rounds))
            for study in plan.studies:
                self._run_study(study, Path(folder))
            for contest in plan.contests:
                self._run_contest(contest, Path(folder))
            if plan.timeouts:
                self._run_timers(plan.timeouts)

    @contextlib.contextmanager
    def _running_brokers(self, folder: Path) -> Iterator[list[Broker]]:
        """All brokers, started and warmed up, for the duration of the block."""
        with contextlib.ExitStack() as stack:
            brokers = []
            for number, candidate in enumerate(self._candidates):
                self._tell(f"{candidate.name}: starting, warming up")
                broker = stack.enter_context(candidate.make(folder / f"broker-{number}", {}))
                warm_up(broker)
                brokers.append(broker)
            yield brokers

    def _run_section(self, section: Section, brokers: Sequence[Broker], rounds: int) -> None:
        """In each round, run every workload against every broker; the order of brokers alternates between rounds."""
        goals = {workload.name: workload.goals for workload in section.workloads}
        with self._section(section.name, [broker.name for broker in brokers], self._reference, goals) as found:
            for number in range(rounds):
                for workload in section.workloads:
                    for broker in brokers if number % 2 == 0 else reversed(brokers):
                        self._tell(f"{section.name}, round {number + 1}/{rounds}: {workload.name}, {broker.name}")
                        self._run_workload(workload, broker, found)
                        self._step(found)

    @staticmethod
    def _run_workload(workload: Workload, broker: Broker, found: SectionResults) -> None:
        try:
            found.add(workload.name, broker.name, workload.run(broker))
        except SkippedError as reason:
            found.skip(workload.name, broker.name, str(reason))
        except FAILURES as error:
            found.fail(workload.name, broker.name, error)

    def _run_study(self, study: Study, folder: Path) -> None:
        names = [candidate.name for candidate in self._candidates]
        with self._section(study.name, names, self._reference, study.workloads) as found:
            for number in range(study.rounds):
                for candidate in self._candidates:
                    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
                        tell = self._teller(f"{study.name}, round {number + 1}/{study.rounds}, {candidate.name}")
                        try:
                            for workload, sample in study.run(candidate, Path(own), tell).items():
                                found.add(workload, candidate.name, sample)
                        except SkippedError as reason:
                            found.skip(study.name, candidate.name, str(reason))
                        except FAILURES as error:
                            found.fail(study.name, candidate.name, error)
                    self._step(found)

    def _run_contest(self, contest: Contest, folder: Path) -> None:
        """In each round, run every workload with every client; the order of clients alternates between rounds."""
        goals = {workload.name: workload.goals for workload in contest.workloads}
        with (
            self._section(contest.name, contest.clients, contest.reference, goals) as found,
            tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own,
            contest.candidate.make(Path(own) / "broker", {}) as broker,
            contest.running(),
        ):
            for number in range(contest.rounds):
                for workload in contest.workloads:
                    for client in contest.clients if number % 2 == 0 else reversed(contest.clients):
                        self._tell(f"{contest.name}, round {number + 1}/{contest.rounds}: {workload.name}, {client}")
                        try:
                            found.add(workload.name, client, workload.run(broker, client))
                        except SkippedError as reason:
                            found.skip(workload.name, client, str(reason))
                        except FAILURES as error:
                            found.fail(workload.name, client, error)
                        self._step(found)

    def _run_timers(self, count: int) -> None:
        with self._section(TIMERS, [timers.WHEEL, timers.HEAP], timers.HEAP, timers.WORKLOADS) as found:
            for workload, samples in timers.run(count, self._teller(TIMERS)).items():
                for column, sample in samples.items():
                    found.add(workload, column, sample)
            self._step(found)

    @contextlib.contextmanager
    def _section(
        self, name: str, columns: Sequence[str], reference: str, goals: Mapping[str, Mapping[str, Goal]]
    ) -> Iterator[SectionResults]:
        """A table that grows while its section runs and remains on the screen afterwards."""
        found = SectionResults(name, columns, reference, goals)
        self._results.sections.append(found)
        yield found
        self._show(self._progress)
        self._console.print(rich_table(found, self._console.width))

    def _step(self, found: SectionResults) -> None:
        self._progress.advance(self._all)
        table = rich_table(found, self._console.width)
        fits = table.row_count + 8 <= self._console.height
        self._show(Group(table, self._progress) if fits else self._progress)

    def _show(self, shown: Progress | Group) -> None:
        if self._live is not None:
            self._live.update(shown)

    def _tell(self, what: str) -> None:
        self._progress.update(self._now, description=what, total=None)

    def _teller(self, before: str) -> Callable[[str], None]:
        return lambda what: self._tell(f"{before}: {what}")


def scaled(count: int, scale: float) -> int:
    """A scaled count, at least one."""
    return max(1, math.floor(count * scale))
