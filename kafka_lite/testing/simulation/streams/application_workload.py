"""The simulator's workload of a Streams application: its instances run, and faults kill and pause them.

Not in Kafka.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.workload import Workload

COUNTED_S: Final = 120.0
"""How long the application has to count what is left: it may have to wait for a transaction of a killed instance, and
then for a session."""


class ApplicationWorkload(Workload):
    """Instances of an application. One that takes another's place has its state directory."""

    def run_instances(self, count: int) -> None:
        """Start the instances."""
        self.catch_up_s = COUNTED_S
        for number in range(count):
            self._run_instance(f"instance-{number}")

    def _run_instance(self, name: str) -> None:
        instance = self._start_instance(name, str(self._machine.folder / name.rstrip("+")))
        self._reads_to_the_end(instance, lambda: self._run_instance(f"{name}+"))

    @abstractmethod
    def _start_instance(self, name: str, state_dir: str) -> Process:
        """Start an instance of this name, with this state directory."""

    def _create_output_topic(self, topic: str, partitions: int) -> None:
        """Create a topic that the application writes. The history does not read it, as those of ``create_topic``."""
        self._operate("create_topic", topic, partitions, self._replicas, {})
