"""The faults that brokers, their machines and their connections suffer in a simulated world.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.cluster import ZOOKEEPER, Broker, BrokerCluster
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.flipped_bit import FlippedBit, Spot, committed_batches, draw_position, isr
from kafka_lite.testing.simulation.machine import Machine
from kafka_lite.testing.simulation.world import World

FEW_DESCRIPTORS: Final = 8
"""How many more files and connections a broker may open at most when descriptors run out."""
SPARED_BLOCK_BYTES: Final = (4_096, 100_000)
"""The largest block that a broker gets when memory is short: so small that it can hardly read a log, or nearly as
large as it wants."""
LOOKS_S: Final = 0.05
"""How often a broker with a flipped bit is looked at, to see whether it was started again."""


class BrokerFaults:
    """Lets one thing go wrong with a broker, and ends it after the fault's duration.

    ``stop_broker`` stops one cleanly; ``clients`` is the machine of all clients. A flipped bit needs the names of the
    topics, and excuses partitions in the history whose leader may have lost records.
    """

    def __init__(
        self,
        world: World,
        cluster: BrokerCluster,
        stop_broker: Callable[[Broker], None],
        clients: Machine,
        topics: Mapping[str, int],
        history: History,
    ) -> None:
        self._world = world
        self._cluster = cluster
        self._stop_broker = stop_broker
        self._clients = clients
        self._topics = topics
        self._history = history
        self._rotten: set[Spot] = set()
        """Batches with a bit that is flipped now."""
        self.power_failed = False
        """Whether a machine has lost power: clients notice late that its connections are gone."""

    def apply(self, fault: Fault) -> None:
        """Let the fault happen, and wait until it is over."""
        _APPLY[fault.kind](self, fault)

    def _target(self, fault: Fault) -> Broker:
        """The broker that suffers."""
        brokers = self._cluster.brokers
        if fault.kind is Kind.KILL_CONTROLLER and (controller := self._cluster.controller()) is not None:
            return controller
        return brokers[int(fault.amount * 1000) % len(brokers)]

    def _kill(self, fault: Fault) -> None:
        broker = self._target(fault)
        if broker.is_wanted:
            broker.kill()
            self._world.sleep(fault.duration_s)
            broker.start()

    def _stop(self, fault: Fault) -> None:
        broker = self._target(fault)
        if broker.is_wanted:
            self._stop_broker(broker)
            self._world.sleep(fault.duration_s)
            broker.start()

    def _kill_zookeeper(self, fault: Fault) -> None:
        zookeeper = self._cluster.zookeeper
        assert zookeeper is not None
        if zookeeper.is_wanted:
            zookeeper.kill()
            self._world.sleep(fault.duration_s)
            zookeeper.start()

    def _lose_power(self, fault: Fault) -> None:
        broker = self._target(fault)
        if broker.is_wanted:
            broker.is_wanted = False
            broker.machine.lose_power()
            self.power_failed = True
            self._world.sleep(fault.duration_s)
            broker.machine.switch_on()
            broker.start()

    def _pause(self, fault: Fault) -> None:
        process = self._target(fault).running()
        process.pause()
        self._world.sleep(fault.duration_s)
        process.resume()

    def _reset(self, fault: Fault) -> None:
        self._world.network.reset_connections(self._target(fault).machine.name, share=fault.amount)
        self._world.sleep(fault.duration_s)

    def _cut(self, fault: Fault) -> None:
        links = self._links_to_cut(fault)
        for link in links:
            self._world.network.cut(*link)
        self._world.sleep(fault.duration_s)
        for link in links:
            self._world.network.heal(*link)

    def _links_to_cut(self, fault: Fault) -> list[tuple[str, str]]:
        target = self._target(fault).machine.name
        others = list(self._cluster.others(target))
        if fault.kind is Kind.CUT_ZOOKEEPER:
            others = [ZOOKEEPER]
        elif fault.kind is Kind.CUT_PAIR:
            others = [others[int(fault.amount * 10_000) % len(others)]]
        there, back = [(other, target) for other in others], [(target, other) for other in others]
        is_one_way = fault.kind is Kind.CUT_PAIR and int(fault.amount * 100_000) % 2 == 0
        if fault.kind is Kind.CUT_REQUESTS or is_one_way:
            return there
        return back if fault.kind is Kind.CUT_RESPONSES else [*there, *back]

    def _slow(self, fault: Fault) -> None:
        link = self._world.network.link("clients", self._target(fault).machine.name)
        link.extra_ns = int(fault.amount * 3e9)
        self._world.sleep(fault.duration_s)
        link.extra_ns = 0

    def _refuse(self, fault: Fault) -> None:
        machine = self._target(fault).machine.name
        self._world.network.refuse(machine)
        self._world.network.reset_connections(machine, share=fault.amount)
        self._world.sleep(fault.duration_s)
        self._world.network.refuse(machine, False)

    def _jump(self, fault: Fault) -> None:
        machine = self._clients if fault.kind is Kind.JUMP_CLIENTS else self._target(fault).machine
        machine.set_wall_clock(int((fault.amount - 0.3) * 1e13))
        self._world.sleep(fault.duration_s)

    def _fail_disk(self, fault: Fault) -> None:
        """The disk is full. A broker without a log directory stops; then, or afterwards, it is started again."""
        broker = self._target(fault)
        if not broker.is_wanted:
            return
        disk = broker.machine.disk.faults
        if fault.kind is Kind.FULL:
            disk.free_bytes = int(fault.amount * 100_000)
        else:
            disk.failing_write = 1 + int(fault.amount * 200)
        self._world.sleep(fault.duration_s)
        disk.free_bytes = disk.failing_write = None
        if broker.is_wanted:
            broker.kill()
            self._world.sleep(0.5)
            broker.start()

    def _spare_descriptors(self, fault: Fault) -> None:
        """As with a disk: the broker may stop; then, or afterwards, it is started again."""
        broker = self._target(fault)
        if not broker.is_wanted or broker.process is None:
            return
        broker.process.limit_descriptors(int(fault.amount * FEW_DESCRIPTORS))
        self._world.sleep(fault.duration_s)
        if broker.is_wanted:
            broker.kill()
            self._world.sleep(0.5)
            broker.start()

    def _spare_memory(self, fault: Fault) -> None:
        """Limit the broker's memory for a while. It retries later what failed, so it is not restarted."""
        process = self._target(fault).process
        if process is None or not process.is_running:
            return
        smallest, largest = SPARED_BLOCK_BYTES
        process.limit_memory(int(smallest * (largest / smallest) ** fault.amount))
        self._world.sleep(fault.duration_s)
        process.limit_memory(None)

    def _flip(self, fault: Fault) -> None:
        """A bit of a committed batch reads wrong for a while. No-op if the broker has none."""
        broker, random = self._target(fault), self._world.random_for("flipped bits")
        topics = [topic for topic in self._topics if topic not in self._history.compacted]
        found = committed_batches(broker.parts, broker.machine.folder / "data", topics)
        spots = [spot for spot in found if spot not in self._rotten]
        if not spots:
            return
        spot = random.choice(spots)
        self._rotten.add(spot)
        position, bit = draw_position(random, spot), random.randrange(8)
        self._world.note(f"bit {bit} at {position} of {spot.topic}-{spot.partition}/{spot.segment.name} flips")
        flipped = FlippedBit(spot, position, bit)
        self._watch_restarts(broker, spot, fault.duration_s)
        if not flipped.put_right():
            self._world.note("the flipped bit is gone already")
        self._rotten.remove(spot)

    def _watch_restarts(self, broker: Broker, spot: Spot, duration_s: float) -> None:
        """Excuse the partition if the broker starts again while it is in the ISR: it may lead with a log cut off."""
        process, deadline_ns = broker.process, self._world.scheduler.now_ns + int(duration_s * 1e9)
        while (left_ns := deadline_ns - self._world.scheduler.now_ns) > 0:
            self._world.sleep(min(LOOKS_S, left_ns / 1e9))
            if broker.process is process:
                continue
            process = broker.process
            assert self._cluster.zookeeper is not None
            in_sync = isr(self._cluster.zookeeper.parts, spot.topic, spot.partition)
            if in_sync is None or broker.number in in_sync:
                self._history.excused.add((spot.topic, spot.partition))
                self._world.note(f"{spot.topic}-{spot.partition} is excused: {in_sync} are in sync")


_APPLY: Final[dict[Kind, Callable[[BrokerFaults, Fault], None]]] = {
    Kind.KILL: BrokerFaults._kill, Kind.STOP: BrokerFaults._stop, Kind.POWER: BrokerFaults._lose_power,
    Kind.PAUSE: BrokerFaults._pause, Kind.RESET: BrokerFaults._reset, Kind.CUT: BrokerFaults._cut,
    Kind.CUT_REQUESTS: BrokerFaults._cut, Kind.CUT_RESPONSES: BrokerFaults._cut, Kind.SLOW: BrokerFaults._slow,
    Kind.REFUSE: BrokerFaults._refuse, Kind.JUMP: BrokerFaults._jump, Kind.JUMP_CLIENTS: BrokerFaults._jump,
    Kind.FULL: BrokerFaults._fail_disk, Kind.EIO: BrokerFaults._fail_disk, Kind.KILL_CONTROLLER: BrokerFaults._kill,
    Kind.CUT_PAIR: BrokerFaults._cut, Kind.CUT_ZOOKEEPER: BrokerFaults._cut,
    Kind.KILL_ZOOKEEPER: BrokerFaults._kill_zookeeper, Kind.FLIP: BrokerFaults._flip,
    Kind.DESCRIPTORS: BrokerFaults._spare_descriptors, Kind.MEMORY: BrokerFaults._spare_memory,
}  # fmt: skip
