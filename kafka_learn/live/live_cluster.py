"""Three brokers, ZooKeeper, a producer and consumers in a simulated world that its reader steers while it runs.

Not in Kafka. Everything in the world is unmodified source of this project. A driver, in a page or in a test, gives
commands and lets time pass in small turns::

    live = LiveCluster(seed=1, folder=folder)
    live.turn(elapsed_s)                    as much simulated time as the pace allows
    live.do(["kill", 1])                    between two turns
    live.snapshot()                         what a page shows: plain JSON

The same seed with the same actions at the same times gives the same run, wherever it runs: ``actions`` has them.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kafka_learn.live.clients.live_clients import LiveClients
from kafka_learn.live.clients.transaction_program import TRANSACTIONAL_ID
from kafka_learn.live.commands import Action, Command, as_text, command
from kafka_learn.live.console import PROGRAM, Console
from kafka_learn.live.event_feed import EventFeed
from kafka_learn.live.operations import PROGRAMS, Operations
from kafka_learn.live.pace import Pace
from kafka_learn.live.running_code import RunningCode
from kafka_learn.live.snapshot import broker_rows, group_row, partition_rows, topic_row, transaction_row
from kafka_lite.testing.simulation.cluster import OPERATOR_PROGRAMS, BrokerCluster
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.network import Conditions
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.world import World

CLIENTS: Final = "clients"
"""The machine of the clients."""
COPIED: Final = (*PACKAGES, "kafka_learn")
"""Packages of which each process has its own copy."""
TOPIC, GROUP = "demo", "readers"
REPLICAS: Final = ((2, 1, 0), (0, 2, 1), (1, 0, 2))
"""The replicas of each partition, its leader first: scenarios are about brokers by their numbers."""
PROPERTIES: Final = {
    "transaction.state.log.num.partitions": "1", "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}  # fmt: skip
"""Of the brokers: one partition of transactional ids is there sooner than fifty."""
CONTROLLER: Final = 2
"""The broker that starts before the others, and is the first controller."""
START_S: Final = 600.0
"""Simulated seconds after which a cluster that has no topic yet has failed."""
COLLECT_EVERY_NS: Final = 5_000_000_000
"""After how much simulated time garbage is collected: at its multiples, however long the driver's turns are."""


class LiveCluster:
    """A cluster and its clients. One for each process of the system: what killed threads hold is never freed."""

    def __init__(self, seed: int, folder: Path, own: Mapping[int, Mapping[str, Path]] | None = None) -> None:
        """``own``: the modules that a broker, by its number, loads from other files, such as its reader's."""
        # A collection runs __del__ when it happens, so it happens at times of the world. See _collect.
        gc.disable()
        self.world = World(
            seed,
            folder,
            conditions=Conditions(),
            modules=lambda: Modules(COPIED, any_python=True),
            log_level=logging.WARNING,
        )
        self.feed = EventFeed()
        self.world.events.listener = self.feed.note
        self.pace = Pace()
        self.code = RunningCode(self.world)
        self._operations = Operations(self.world, self._start_operator, self._note)
        self._console: Console | None = None
        self.cluster = BrokerCluster(self.world, len(REPLICAS[0]), PROPERTIES)
        for number, files in (own or {}).items():
            self.cluster.brokers[number].machine.replaced = dict(files)
        self.clients = LiveClients(self.world, TOPIC, self._start_client, self._start_operator, self._note)
        self.actions: list[Action] = []
        """The commands so far, with their times."""
        self.is_ready = False
        """Whether the topic is there, and the clients run."""
        self._now_ns = 0
        """Up to where the driver has let the world run; the world's own clock may be a little ahead."""
        self._collected_ns = 0
        self._expected: deque[Action] = deque()
        self._cuts: set[tuple[str, str]] = set()
        self.world.in_background("live", self._start)

    # ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def turn(self, elapsed_s: float) -> None:
        """Let as much time pass as the pace allows after ``elapsed_s`` real seconds."""
        is_hurrying = self.pace.is_hurrying(self._now_ns / 1e9)
        due_s = self.pace.due_s(elapsed_s, self._now_ns / 1e9)
        if self.pace.is_paused and due_s > 0 and not is_hurrying:
            with self.code.noted():
                self.run(due_s)
        else:
            self.run(due_s)

    def run(self, duration_s: float) -> None:
        """Let simulated time pass. Raises what the world raises if it cannot continue."""
        if duration_s > 0:
            self._run_until(self._now_ns + round(duration_s * 1e9))

    def expect(self, actions: Iterable[Action]) -> None:
        """Do again what somebody has done, at the same times, as soon as time passes."""
        self._expected.extend(actions)

    def replay(self, actions: Iterable[Action], until_s: float) -> None:
        """The same, and let time pass until ``until_s``."""
        self.expect(actions)
        self._run_until(round(until_s * 1e9))

    def _run_until(self, end_ns: int) -> None:
        while self._expected and self._expected[0].at_ns <= end_ns:
            action = self._expected.popleft()
            self._pass_until(action.at_ns)
            self._do(action.command)
        self._pass_until(end_ns)

    def _pass_until(self, end_ns: int) -> None:
        """Let time pass. What became garbage is collected at the same times in each run of the seed."""
        while self._collected_ns + COLLECT_EVERY_NS <= end_ns:
            self._collected_ns += COLLECT_EVERY_NS
            self._now_ns = self._collected_ns
            self.world.scheduler.run(self._now_ns)
            gc.collect(1)
        if end_ns > self._now_ns:
            self._now_ns = end_ns
            self.world.scheduler.run(end_ns)

    # ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def machines(self) -> list[str]:
        """Machines whose links can be cut."""
        return [*(server.machine.name for server in self.cluster.servers), CLIENTS]

    def do(self, words: Sequence[object]) -> None:
        """Carry out a command (``commands``). Raises ValueError for one that there is not, or not yet."""
        if not self.is_ready:
            raise ValueError("the cluster is still starting")
        self._do(command(words, len(self.cluster.brokers), self.machines))

    def _do(self, wanted: Command) -> None:
        self.actions.append(Action(self._now_ns, wanted))
        text = f"you: {' '.join((wanted.name, *wanted.arguments))}"
        self.feed.note(self.world.scheduler.now_ns, text, is_own=True)
        if wanted.name == "isolation":
            (self.clients.isolation,) = wanted.arguments  # at once: who joins at the same time must have it
        elif wanted.name in PROGRAMS:
            self._operations.add(wanted, TOPIC)
        else:
            self.world.in_background(wanted.name, lambda: self._carry_out(wanted))

    @property
    def console(self) -> Console:
        """Runs cells of the reader. Raises ValueError while the cluster is starting."""
        if not self.is_ready:
            raise ValueError("the cluster is still starting")
        if self._console is None:
            self._console = Console(self.world, self._start_console)
        return self._console

    def _start_console(self, program: str, *args: Any, name: str) -> Process:
        return self._start_client(f"{PROGRAM}:{program}", *args, name=name)

    def _carry_out(self, wanted: Command) -> None:
        name = wanted.name
        if name in ("kill", "stop", "start"):
            getattr(self.cluster.brokers[wanted.number()], name)()
        elif name in ("pause", "resume"):
            self._pause_or_resume(wanted.number(), name == "pause")
        elif name in ("cut", "heal"):
            self._cut_or_heal(wanted.arguments[0], wanted.arguments[1], name == "cut")
        else:
            self._tell_clients(wanted)

    def _tell_clients(self, wanted: Command) -> None:
        clients, name = self.clients, wanted.name
        if name == "produce":
            clients.produce(wanted.number(), wanted.arguments[1])
        elif name == "join":
            clients.join(wanted.number(), GROUP)
        elif name in ("begin", "commit", "abort"):
            clients.transact(name, wanted.number() if wanted.arguments else 0, len(REPLICAS))
        elif name == "lines":
            clients.write_lines(wanted.number())
        elif name == "crash":
            clients.crash(wanted.arguments[0])
        else:
            {"leave": clients.leave, "open": clients.open, "close": clients.close}[name](wanted.number())

    def _pause_or_resume(self, number: int, is_to_pause: bool) -> None:
        process = self.cluster.brokers[number].running()
        if process.owner.is_paused is not is_to_pause:
            (process.pause if is_to_pause else process.resume)()

    def _cut_or_heal(self, first: str, second: str, is_to_cut: bool) -> None:
        change: Callable[[str, str], None] = self.world.network.cut if is_to_cut else self.world.network.heal
        change(first, second)
        change(second, first)
        (self._cuts.add if is_to_cut else self._cuts.discard)((min(first, second), max(first, second)))

    # ── the beginning ─────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> None:
        zookeeper, controller = self.cluster.zookeeper, self.cluster.brokers[CONTROLLER]
        assert zookeeper is not None
        zookeeper.start()
        controller.start()
        self.world.wait_until(lambda: self.cluster.controller() is controller, START_S, "the first controller")
        self.cluster.start()
        self.world.await_success(self._start_operator("create_placed_topic", TOPIC, REPLICAS), START_S)
        self.clients.start_producer()
        self.clients.join(1, GROUP)
        self.is_ready = True

    def _start_operator(self, program: str, *args: Any) -> Process:
        machine = self.world.machine(CLIENTS)
        return machine.start(OPERATOR_PROGRAMS + program, self.cluster.bootstrap, *args, name=program)

    def _start_client(self, program: str, *args: Any, name: str) -> Process:
        return self.world.machine(CLIENTS).start(program, self.cluster.bootstrap, *args, name=name)

    def _note(self, text: str) -> None:
        self.feed.note(self.world.scheduler.now_ns, text)

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────

    def snapshot(self) -> dict[str, Any]:
        """The state as plain JSON; ``events`` are those that are new or have another count since the last snapshot."""
        running = [(broker.number, broker.parts) for broker in self.cluster.brokers if broker.parts is not None]
        return {
            "seed": self.world.seed, "now_s": self._now_ns / 1e9, "is_ready": self.is_ready,
            "expected": len(self._expected), "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            "is_paused": self.pace.is_paused, "speed": self.pace.speed,
            "is_hurrying": self.pace.is_hurrying(self._now_ns / 1e9),
            "brokers": broker_rows(self.cluster.brokers), "cuts": sorted(self._cuts),
            "partitions": partition_rows(running, {TOPIC}), "topic": topic_row(running, TOPIC),
            "group": group_row(running, GROUP), "coordinated": transaction_row(running, TRANSACTIONAL_ID),
            **self.clients.as_json(), "events": self.feed.news(), "code": self.code.as_json(),
            "cells": self._console.news() if self._console is not None else [],
            "actions": as_text(self.actions), "steps": self.world.events.steps, "digest": self.world.events.digest,
        }  # fmt: skip
