"""A thread that runs an object which is not itself a thread.

Kafka 0.10.2: clients/.../common/utils/KafkaThread.java · book 2.3.2
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread


class Runnable(Protocol):
    """Work that a thread does in a loop."""

    def do_work(self) -> None:
        """Do one iteration."""
        ...

    def wake_up(self) -> None:
        """Interrupt an iteration that is waiting; may be called from any thread."""
        ...


class KafkaThread(ShutdownableThread):
    """Calls ``do_work`` of a ``Runnable`` in a loop until it is shut down.

    For classes on the path of every request: they are compiled (see ``make compiled``), and a compiled class cannot
    extend ``threading.Thread``.
    """

    def __init__(self, name: str, runnable: Runnable) -> None:
        super().__init__(name)
        self.runnable = runnable

    def do_work(self) -> None:
        """Do one iteration."""
        self.runnable.do_work()

    def wake_up(self) -> None:
        """Interrupt an iteration that is waiting."""
        self.runnable.wake_up()
