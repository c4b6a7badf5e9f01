"""Machines and the processes on them: start, kill -9, pause, a signal, a power failure.

Not in Kafka.
"""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

from kafka_lite.testing.simulation.disk import Disk
from kafka_lite.testing.simulation.endpoint import Endpoint, Listener
from kafka_lite.testing.simulation.network import Network
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler
from kafka_lite.testing.simulation.system.kernel import Kernel
from kafka_lite.testing.simulation.system.modules import Modules


class Surroundings(Protocol):
    """The part of the world that a machine needs."""

    seed: int
    scheduler: Scheduler
    network: Network
    log_level: int
    substitutes: dict[str, str]

    def take_modules(self) -> Modules:
        """Modules for a new process."""
        ...

    def began(self, process: Process) -> None:
        """A process was made."""
        ...

    def note(self, text: str) -> None:
        """Tell the reader of the event log."""
        ...

    def random_for(self, purpose: str) -> Random:
        """A generator for one purpose."""
        ...

    def skew_ns(self, process: str) -> int:
        """How far the wall clock of a process is ahead of its machine's."""
        ...


@dataclass
class Span:
    """A span of the world's time; ``ended_ns`` is None until it ends."""

    what: str
    began_ns: int
    ended_ns: int | None = None


class Process:
    """A running program: its own modules, threads, sockets and open files."""

    def __init__(self, machine: Machine, name: str, modules: Modules, program: str, args: tuple[Any, ...]) -> None:
        self.machine = machine
        self.name = name
        self.owner = Owner(name)
        self.exit_code: int | None = None
        """None while it runs; negative if a signal killed it."""
        self.failure: str | None = None
        """The traceback of an exception that ended the program."""
        self._modules = modules
        self._program = program
        self._args = args
        self._skew_ns = 0
        """How far its wall clock is ahead of its machine's."""
        self.began_ns = 0
        self.ended_ns: int | None = None
        """None while it runs."""
        self.pauses: list[Span] = []

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.exit_code is None

    @property
    def uncaught(self) -> list[str]:
        """Threads that ended with an exception."""
        return self._modules.kernel.uncaught

    def module(self, name: str) -> Any:
        """The process's own copy of a module."""
        return self._modules.load(name)

    def begin(self, world: Surroundings, pid: int) -> None:
        """Connect the modules with the world, and start the main thread."""
        kernel, machine = self._modules.kernel, self.machine
        kernel.scheduler, kernel.network, kernel.disk = world.scheduler, world.network, machine.disk
        kernel.owner, kernel.machine, kernel.pid = self.owner, machine.name, pid
        kernel.locked_files = machine.locked_files
        kernel.random = Random(f"{world.seed}/{self.name}/{pid}")
        self._skew_ns = world.skew_ns(self.name)
        kernel.wall_offset_ns = machine.wall_offset_ns + self._skew_ns
        kernel.exit = self._exit
        self.began_ns = world.scheduler.now_ns
        self._modules.load("random").seed()
        self._modules.load("logging").getLogger().addHandler(self._log_handler(world))
        kernel.main_task = world.scheduler.spawn(self.owner, "main", self._main)

    def _log_handler(self, world: Surroundings) -> Any:
        """Warnings and errors of the process become notes of the world."""
        logging = self._modules.load("logging")
        process = self

        class Notes(logging.Handler):  # type: ignore[misc,name-defined]
            def emit(self, record: Any) -> None:
                process.note(f"{record.levelname} {record.name}: {self.format(record)}")

        return Notes(world.log_level)

    def note(self, text: str) -> None:
        """Tell the reader of the event log."""
        self._modules.kernel.note(text)

    def _main(self) -> None:
        code = 0
        try:
            module, _, function = self._program.partition(":")
            getattr(self._modules.load(module), function)(*self._args)
            self._modules.load("threading")._shutdown()
            for call, args, options in reversed(self._modules.at_exit):
                call(*args, **options)
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        except Exception:  # noqa: BLE001  whatever it is, the program ends with it
            self.failure = traceback.format_exc()
            self.note(f"the program ended with an exception\n{self.failure}")
            code = 1
        self._end(code)

    def _exit(self, code: int) -> None:
        """``os._exit``, and a signal without a handler."""
        scheduler = self._modules.kernel.scheduler
        is_own = scheduler.current is not None and scheduler.current.owner is self.owner
        self._end(code)
        if is_own:
            scheduler.park()

    # ── what is done to it ────────────────────────────────────────────────────────────────────────────────────────

    def kill(self) -> None:
        """kill -9: no ``finally`` runs, and the kernel closes its files and connections. No-op if it has ended."""
        if self.is_running:
            self.note("kill -9")
            self._end(-signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM: the program may stop cleanly. Does not wait."""
        if self.is_running:
            self.note("SIGTERM")
            self._modules.kernel.raise_signal(signal.SIGTERM)

    def pause(self) -> None:
        """SIGSTOP: none of its threads runs until ``resume``."""
        if self.is_running:
            self.note("paused")
            self.pauses.append(Span("paused", self._modules.kernel.scheduler.now_ns))
            self._modules.kernel.scheduler.pause(self.owner)

    def resume(self) -> None:
        """SIGCONT."""
        if self.is_running:
            self.note("resumed")
            self.pauses[-1].ended_ns = self._modules.kernel.scheduler.now_ns
            self._modules.kernel.scheduler.resume(self.owner)

    def limit_descriptors(self, more: int | None) -> None:
        """``ulimit -n``: so many more sockets and files than it has may be open; None for no limit."""
        kernel = self._modules.kernel
        has = len(kernel.sockets) + len(kernel.open_files)
        kernel.most_descriptors = None if more is None else has + more
        self.note("has no limit of descriptors" if more is None else f"may open {more} more descriptors")

    def limit_memory(self, largest_block_bytes: int | None) -> None:
        """``ulimit -v``: reads of files and sockets that ask for more at once fail; None for no limit."""
        self._modules.kernel.largest_block_bytes = largest_block_bytes
        most = largest_block_bytes
        self.note("has no limit of memory" if most is None else f"gets no block of more than {most} bytes")

    def follow_wall_clock(self) -> None:
        """The machine's wall clock has jumped."""
        kernel = self._modules.kernel
        kernel.wall_offset_ns = self.machine.wall_offset_ns + self._skew_ns
        self.note(f"the wall clock is {kernel.wall_offset_ns / 1e9:+.1f} s ahead")

    def _end(self, code: int, is_power_failure: bool = False) -> None:
        if not self.is_running:
            return
        self.exit_code = code
        self.note(f"ended with exit code {code}")
        kernel = self._modules.kernel
        self.ended_ns = kernel.scheduler.now_ns
        kernel.scheduler.kill(self.owner)
        self.machine.ended(self)
        _close_all(kernel, is_power_failure)

    def lose_power(self) -> None:
        """The machine is gone."""
        self._end(-signal.SIGKILL, is_power_failure=True)


def _close_all(kernel: Kernel, is_power_failure: bool) -> None:
    """Release what a process that has ended still holds, as the operating system does."""
    sockets, kernel.sockets = kernel.sockets, {}
    if not is_power_failure:
        for watched in sockets.values():
            if isinstance(watched, Listener) and kernel.network is not None:
                kernel.network.close_listener(watched)
            elif isinstance(watched, Endpoint):
                watched.close()
    files = kernel.open_files.copy()
    kernel.open_files.clear()
    kernel.has_ended = True
    for fd, path in files.items():
        if kernel.locked_files.get(path) is kernel:
            del kernel.locked_files[path]
        with contextlib.suppress(OSError):
            os.close(fd)


class Machine:
    """A computer: an address, a disk, a clock, and processes."""

    def __init__(self, world: Surroundings, name: str, folder: Path) -> None:
        self.name = name
        self.ip = world.network.add_machine(name)
        self.disk = Disk(folder / name)
        self.locked_files: dict[str, Kernel] = {}
        self.wall_offset_ns = 0
        """How far its wall clock is ahead of the world's."""
        self.processes: list[Process] = []
        """The running processes."""
        self.replaced: dict[str, Path] = {}
        """Modules that the programs it starts load from other files than the shipped ones, such as a learner's."""
        self._world = world

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.disk.folder

    def start(self, program: str, *args: Any, name: str | None = None) -> Process:
        """Start a program: ``module:function``, called with ``args`` in the new process's own modules.

        Raises ValueError for a module that the processes have no copies of: it would run in the real world.
        """
        modules = self._world.take_modules()
        if not modules.is_copied(program.partition(":")[0]):
            raise ValueError(f"{program} is not simulated: name its package with --package, or for Modules")
        modules.replaced = self.replaced
        chosen = self._world.substitutes.get(program, program)
        process = Process(self, name or self.name, modules, chosen, args)
        self.processes.append(process)
        self._world.began(process)
        return process

    def ended(self, process: Process) -> None:
        """Remove it from the running processes."""
        self.processes.remove(process)

    def set_wall_clock(self, ahead_ns: int) -> None:
        """Let the wall clock jump: it is so far ahead of the world's from now on."""
        self.wall_offset_ns = ahead_ns
        for process in self.processes:
            process.follow_wall_clock()

    def lose_power(self) -> None:
        """The power fails: processes vanish without closing anything, and the disk loses what was not flushed."""
        world = self._world
        world.note(f"{self.name} loses power")
        for process in self.processes.copy():
            process.lose_power()
        world.network.crash(self.name)
        self.disk.crash(world.random_for("disk"))

    def switch_on(self) -> None:
        """Make the machine reachable again. The caller starts its processes."""
        self._world.note(f"{self.name} is switched on")
        self._world.network.restart(self.name)
