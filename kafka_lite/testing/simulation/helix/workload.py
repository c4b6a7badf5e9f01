"""The simulator's workload of Helix: controllers and participants around one ZooKeeper, and an administrator.

Not in Kafka.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.cluster import ZOOKEEPER, ZooKeeper
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.helix.facts import CLUSTER, Facts
from kafka_lite.testing.simulation.helix.verdict import unreached
from kafka_lite.testing.simulation.helix.written_course import judge_log
from kafka_lite.testing.simulation.machine import Process, Span
from kafka_lite.testing.simulation.world import World

HELIX_PROGRAMS: Final = "kafka_lite.testing.simulation.helix.programs:"
ADMINISTRATOR: Final = "administrator"
SET_UP_S: Final = 60.0
REACHED_S: Final = 300.0
"""How long the cluster has to reach the last plans: a name is taken until the session of its last owner ends."""
END_S: Final = 120.0


class Member:
    """A controller or a participant on a machine of its own. If it is killed, another process has its name."""

    def __init__(self, world: World, name: str, start: Callable[[str], Process]) -> None:
        self.machine = world.machine(name)
        self._start = start
        self.process = start(name)

    def start_again(self) -> None:
        """Start it after its end."""
        self.process = self._start(self.machine.name)


class HelixWorkload:
    """A cluster of Helix; each member and the administrator may lose ZooKeeper, which may die, too."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.history = History()
        self.facts = Facts()
        self.members: list[Member] = []
        self.zookeeper = ZooKeeper(world, world.machine(ZOOKEEPER))

    def start(self, controllers: int, participants: int, slowest_s: float) -> None:
        """Start ZooKeeper, then the administrator, who sets the cluster up, then its members.

        A transition takes up to ``slowest_s``.
        """
        self.zookeeper.start()
        names = [f"participant-{number}" for number in range(participants)]
        connect, administrator = self.zookeeper.connect_string, self.world.machine(ADMINISTRATOR)
        args = connect, ADMINISTRATOR, names, self.facts, self.history
        self._administrator = administrator.start(HELIX_PROGRAMS + "administrator", *args)
        self.world.wait_until(lambda: self.facts.is_set_up, SET_UP_S, "a cluster")
        for number in range(controllers):
            self._add(f"controller-{number}", "controller")
        for name in names:
            self._add(name, "participant", slowest_s)

    def _add(self, name: str, program: str, *args: object) -> None:
        def start(name: str) -> Process:
            machine, connect = self.world.machine(name), self.zookeeper.connect_string
            return machine.start(HELIX_PROGRAMS + program, connect, name, *args, self.history)

        self.members.append(Member(self.world, name, start))

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def suffer(self, fault: Fault) -> None:
        """Let one thing go wrong, and end it."""
        self.world.note(f"fault: {fault}")
        span = Span(str(fault), self.world.scheduler.now_ns)
        self.world.suffering.append(span)
        _APPLY[fault.kind](self, fault)
        span.ended_ns = self.world.scheduler.now_ns
        self.world.sleep(fault.after_s)

    def _target(self, fault: Fault) -> Member:
        return self.members[int(fault.amount * len(self.members))]

    def _kill_zookeeper(self, fault: Fault) -> None:
        if self.zookeeper.is_wanted:
            self.zookeeper.kill()
            self.world.sleep(fault.duration_s)
            self.zookeeper.start()

    def _kill(self, fault: Fault) -> None:
        member = self._target(fault)
        if member.process.is_running:
            member.process.kill()
            self.world.sleep(fault.duration_s)
            member.start_again()

    def _pause(self, fault: Fault) -> None:
        process = self._target(fault).process
        process.pause()
        self.world.sleep(fault.duration_s)
        process.resume()

    def _cut(self, fault: Fault) -> None:
        name = self._target(fault).machine.name
        links = [(name, ZOOKEEPER), (ZOOKEEPER, name)]
        if fault.kind is not Kind.CUT_ZOOKEEPER:
            links = links[:1] if fault.kind is Kind.CUT_REQUESTS else links[1:]
        for link in links:
            self.world.network.cut(*link)
        self.world.sleep(fault.duration_s)
        for link in links:
            self.world.network.heal(*link)

    def _reset(self, fault: Fault) -> None:
        self.world.network.reset_connections(ZOOKEEPER, share=fault.amount)
        self.world.sleep(fault.duration_s)

    def _jump(self, fault: Fault) -> None:
        self._target(fault).machine.set_wall_clock(int((fault.amount - 0.3) * 1e13))
        self.world.sleep(fault.duration_s)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self) -> list[Violation]:
        """Let the last plans be reached, stop everybody, and judge, also what was written to ZooKeeper."""
        self.history.is_sending_over = True
        with contextlib.suppress(TimeoutError):
            self.world.wait_until(self._is_reached, REACHED_S, "the last plans")
        found = list(unreached(self.facts))
        self.history.is_over = True
        programs = [*(member.process for member in self.members), self._administrator]
        self.world.wait_until(lambda: not any(each.is_running for each in programs), END_S, "members to end")
        self.zookeeper.stop()
        self.world.wait_until(lambda: not self.zookeeper.running().is_running, END_S, "ZooKeeper to end")
        self.world.note(f"{self.facts.changes} changes of {len(self.facts.plans)} resources")
        return [*judge_log(self.zookeeper.machine.folder / "data", CLUSTER), *found, *self._broken_programs()]

    def _is_reached(self) -> bool:
        return self.facts.is_planned and not any(unreached(self.facts))

    def _broken_programs(self) -> list[Violation]:
        processes = self.world.processes
        failed = [Violation("program failed", f"{each.name}: {each.failure}") for each in processes if each.failure]
        return failed + [Violation("thread failed", text) for each in processes for text in each.uncaught]


_APPLY: Final[dict[Kind, Callable[[HelixWorkload, Fault], None]]] = {
    Kind.KILL_ZOOKEEPER: HelixWorkload._kill_zookeeper, Kind.KILL_CONSUMER: HelixWorkload._kill,
    Kind.PAUSE_CONSUMER: HelixWorkload._pause, Kind.CUT_ZOOKEEPER: HelixWorkload._cut,
    Kind.CUT_REQUESTS: HelixWorkload._cut, Kind.CUT_RESPONSES: HelixWorkload._cut, Kind.RESET: HelixWorkload._reset,
    Kind.JUMP_CLIENTS: HelixWorkload._jump,
}  # fmt: skip
