"""The kernel to which the stand-ins of one process talk.

Not in Kafka. A process's modules are imported before the process runs, so the kernel begins without a world: locks can
be made and taken, the clock stands still, and everything that would block raises SimulationError.
"""

from __future__ import annotations

import errno
import itertools
import signal
import types
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from kafka_lite.testing.simulation.disk import Disk
from kafka_lite.testing.simulation.endpoint import Watched
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.network import Network
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler, SimulationError, Task

EPOCH_NS: Final = 1_700_000_000 * 10**9
"""Wall-clock time at which a world begins."""
FIRST_SOCKET_FD: Final = 1_000_000
"""Descriptors from here on are sockets of the world; those below are real files."""
CLOCK_READING_NS: Final = 100
"""The cost of reading the clock."""


class NotSimulatedError(SimulationError, OSError):
    """The program called a function that the world does not simulate."""


class Kernel:
    """One process's threads, clock, descriptors, chance and disk."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(Random(0), EventLog())
        self.owner = Owner("import")
        self.machine = ""
        self.network: Network | None = None
        self.disk: Disk | None = None
        self.random = Random(0)
        self.pid = 1
        self.wall_offset_ns = 0
        """How far the process's wall clock is ahead of the world's."""
        self.sockets: dict[int, Watched] = {}
        self.open_files: dict[int, str] = {}
        """Open files of the machine's disk, and their paths."""
        self.most_descriptors: int | None = None
        """How many sockets and files it may have open: ``ulimit -n``. None for no limit."""
        self.largest_block_bytes: int | None = None
        """The largest block of memory that it can get: ``ulimit -v``. None for no limit."""
        self.locked_files: dict[str, Kernel] = {}
        """Locks on files of the machine, and who holds them."""
        self.main_task: Task | None = None
        self.signal_handlers: dict[int, Any] = {}
        self.exit: Callable[[int], None] = _no_exit
        self.thread_numbers = itertools.count(2)
        self.thread_idents: dict[int, int] = {}
        """Task number -> what ``get_ident`` returns."""
        self.lock_numbers = itertools.count(1)
        self.has_ended = False
        self.uncaught: list[str] = []
        """Threads that ended with an exception."""
        self._fds = itertools.count(FIRST_SOCKET_FD)

    def note(self, text: str) -> None:
        """Tell the reader of the event log."""
        self.scheduler.events.note(self.scheduler.now_ns, f"{self.owner.name}: {text}")

    @property
    def task(self) -> Task:
        """The running task. Raises SimulationError outside of tasks."""
        if self.scheduler.current is None:
            raise SimulationError("blocks outside a task")
        return self.scheduler.current

    def deadline_ns(self, timeout_s: float | None) -> int | None:
        """The world's time in so many seconds; None for no timeout or a negative one."""
        if timeout_s is None or timeout_s < 0:
            return None
        return self.scheduler.now_ns + int(timeout_s * 1e9)

    def raise_signal(self, number: int) -> None:
        """Run the process's handler in its main thread; without one, the signal kills."""
        handler = self.signal_handlers.get(number)
        if callable(handler) and self.main_task is not None:
            self.scheduler.interrupt(self.main_task, lambda: handler(number, None))
        elif handler is not signal.SIG_IGN:
            self.exit(128 + number)

    def take_descriptor(self) -> None:
        """A descriptor is about to be opened. Raises OSError, EMFILE, if the process has no more."""
        if self.most_descriptors is not None and len(self.sockets) + len(self.open_files) >= self.most_descriptors:
            raise OSError(errno.EMFILE, "Too many open files")

    def take_memory(self, size_bytes: int) -> None:
        """A block of memory is about to be allocated. Raises MemoryError if it exceeds the limit."""
        if self.largest_block_bytes is not None and size_bytes > self.largest_block_bytes:
            raise MemoryError(f"no block of {size_bytes} bytes")

    def open_socket(self, watched: Watched) -> int:
        """A descriptor for it. Raises OSError: EMFILE."""
        self.take_descriptor()
        fd = next(self._fds)
        self.sockets[fd] = watched
        return fd


def _no_exit(code: int) -> None:
    raise SimulationError(f"exit({code}) while modules are imported")


def stand_in(name: str, original: types.ModuleType | None, replaced: Mapping[str, object]) -> types.ModuleType:
    """A module like ``original`` in which some names mean something else."""
    module = types.ModuleType(name)
    if original is not None:
        own = {"__name__", "__spec__", "__loader__", "__package__"}
        module.__dict__.update({key: value for key, value in vars(original).items() if key not in own})
    module.__dict__.update(replaced)
    return module
