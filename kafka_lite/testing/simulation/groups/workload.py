"""The simulator's workload of a group that the broker assigns, some of whose members are upgraded while it runs.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.simulation.groups.programs import MODERN
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.workload import Workload
from kafka_lite.testing.simulation.world import World

GROUP_PROGRAMS: Final = "kafka_lite.testing.simulation.groups.programs:"
TOPIC: Final = "ours"
QUICK: Final[Mapping[str, str]] = {
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "10000",
}
"""As often as members of classic groups in the simulator."""


class GroupWorkload(Workload):
    """Members of one group, most of them new, the others upgraded in the course of the run."""

    def __init__(self, world: World, properties: Mapping[str, str], brokers: int = 1) -> None:
        super().__init__(world, properties, brokers)
        self._upgrades: dict[Process, str] = {}
        """Members of the classic protocol, with their names."""

    def start_group(self, partitions: int, members: int, classic: int) -> None:
        """Create the topic, and start producers and members; so many members begin with the classic protocol."""
        self.create_topic(TOPIC, partitions)
        for number in range(2):
            self.produce(f"producer-{number}", Load(TOPIC, partitions, 5))
        for number in range(members):
            self.join(f"member-{number}", is_modern=number >= classic)

    def join(self, name: str, *, is_modern: bool) -> None:
        """Start a member. One that is killed begins again as it was."""
        configs = MODERN if is_modern else {}
        member = self._start_client(
            "group_member", name, "our-group", TOPIC, self.history, configs, module=GROUP_PROGRAMS
        )
        self._read_topics.add(TOPIC)
        self._reads_to_the_end(member, lambda: self.join(f"{name}+", is_modern=is_modern))
        if not is_modern:
            self._upgrades[member] = name

    def upgrade_members(self) -> None:
        """Stop the members of the classic protocol one by one, and start each as one of the new protocol."""
        random = self.world.random_for("upgrades")
        while member := next((each for each in self._upgrades if each in self.clients), None):
            self.world.sleep(random.expovariate(0.2))
            name = self._upgrades.pop(member)
            if member not in self.clients:
                continue  # killed meanwhile: what has taken its place is upgraded next
            self.clients.remove(member)
            member.stop()
            self._await_end(member, "a member to leave")
            self.join(f"{name}*", is_modern=True)
