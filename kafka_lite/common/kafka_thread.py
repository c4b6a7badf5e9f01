"""A thread that runs an object which is no thread itself.

Kafka 0.10.2: clients/.../common/utils/KafkaThread.java · book 2.3.2
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread


class Runnable(Protocol):
    """Work that comes in turns."""

    def do_work(self) -> None:
        """One turn."""
        ...

    def wake_up(self) -> None:
        """Interrupt a turn that waits; any thread may call this."""
        ...


class KafkaThread(ShutdownableThread):
    """Runs the turns of a ``Runnable`` until it is told to stop.

    For work that every request passes: such a class is compiled, see ``make compiled``, and a compiled class cannot be
    a ``threading.Thread``.
    """

    def __init__(self, name: str, runnable: Runnable) -> None:
        super().__init__(name)
        self.runnable = runnable

    def do_work(self) -> None:
        """One turn."""
        self.runnable.do_work()

    def wake_up(self) -> None:
        """Let the turn that waits end."""
        self.runnable.wake_up()
