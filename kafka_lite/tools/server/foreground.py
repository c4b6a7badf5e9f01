"""Runs a server in the foreground: one ready line on stdout, the log on stderr, a clean stop on a signal.

Kafka 0.10.2: core/.../Kafka.scala, server/KafkaServerStartable.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.garbage import GarbageCollector, without_collections
from kafka_lite.common.process.malloc import keep_freed_memory
from kafka_lite.tools.common import terminal
from kafka_lite.tools.common.logging_config import CONFIG_VARIABLE, configure_logging
from kafka_lite.tools.common.stop_signals import SIGNAL_CHECK_S, StopRequested, StopSignals
from kafka_lite.tools.server.running_brokers import RunningBrokers

MAX_PORT = 65535


class ForegroundServer(Protocol):
    """A server that can run in the foreground."""

    def startup(self) -> None:
        """Start. Raises KafkaError or OSError, leaving nothing running."""
        ...

    def ready_line(self) -> str:
        """The line to print once the server has started."""
        ...

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until the server has stopped by itself; False after ``timeout_s``."""
        ...

    def shutdown(self) -> None:
        """Stop; no-op if it is not running."""
        ...


def run_in_foreground(tool: str, create: Callable[[], ForegroundServer], log_config: Path | None = None) -> int:
    """Create and start a server, print its ready line, and stop it on SIGTERM or Ctrl-C with exit code 0.

    ``log_config`` configures its log: see ``configure_logging``.
    If it cannot start, the reason is one line on stderr and the exit code is 1, as it is if it stops by itself.
    """
    signals = StopSignals()
    server: ForegroundServer | None = None
    try:
        signals.install()
        configure_logging(log_config)
        keep_freed_memory()
        try:
            with _making_what_stays():
                server = create()
                server.startup()
        finally:
            signals.raise_again()
        print(server.ready_line(), flush=True)
        with GarbageCollector():
            while not server.await_shutdown(SIGNAL_CHECK_S):
                pass
    except StopRequested:
        return 0
    except (KafkaError, OSError) as error:
        terminal.print_error(f"kafka-lite {tool}: {explain(error)}")
        return 1
    finally:
        signals.disarm()
        gc.unfreeze()
        if server is not None:
            server.shutdown()
    terminal.print_error(f"kafka-lite {tool}: the server stopped by itself; see the log above")
    return 1


@contextmanager
def _making_what_stays() -> Iterator[None]:
    """Disable the garbage collector during startup and exempt what startup created (modules, config, tables) for good.

    Collections take a tenth of the startup time; later, a full collection would pause all threads for tens of ms.
    """
    with without_collections():
        yield
        gc.freeze()


def add_override_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--override property=value``, which may be repeated."""
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="property=value",
        help="set a property, overriding the file; may be repeated",
    )


def add_log_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--log-config FILE``; Kafka's scripts use KAFKA_LOG4J_OPTS."""
    parser.add_argument(
        "--log-config",
        type=Path,
        metavar="FILE",
        help=f"logging configuration, such as config/logging.toml (default: ${CONFIG_VARIABLE}, or log to stderr)",
    )


def overrides(entries: Iterable[str]) -> dict[str, str]:
    """Parse ``property=value`` entries into a mapping; the last entry of a property wins. Raises KafkaError."""
    result = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals or not name.strip():
            raise KafkaError(f"--override {entry!r} is not of the form property=value")
        result[name.strip()] = value.strip()
    return result


_STOP_OR_MOVE = "Is another server running? `kafka-lite server-stop` stops your brokers;"
_ANOTHER_DIRECTORY = "choose another directory (log.dirs, zookeeper.embedded.dir, dataDir)"
_ADVICE = {
    errno.EADDRINUSE: f"{_STOP_OR_MOVE} or choose another port (listeners, zookeeper.embedded.port, clientPort).",
    errno.EAGAIN: f"{_STOP_OR_MOVE} or give this one its own directory (log.dirs, dataDir).",
    errno.EADDRNOTAVAIL: "This machine does not have that address.",
    errno.ENOENT: "Does the file or folder exist?",
    errno.EACCES: "Choose a directory that this user may write to or a port above 1023, or change the permissions.",
    errno.EROFS: "Choose a directory that can be written to.",
    errno.ENOSPC: f"The disk is full: free some space there, or {_ANOTHER_DIRECTORY}.",
    errno.EDQUOT: f"The disk quota is used up: free some space there, or {_ANOTHER_DIRECTORY}.",
    errno.EMFILE: "Allow the process more open files: `ulimit -n 100000`, or LimitNOFILE of its systemd unit.",
    errno.ENOMEM: "Free some memory, or allow more memory maps: `sysctl vm.max_map_count=262144`.",
}


def explain(error: Exception) -> str:
    """The error's text, with advice if the cause is known."""
    from kafka_lite.network.acceptor import PortInUseError
    from kafka_lite.zookeeper.zk_errors import ZkConnectionError

    cause = error if isinstance(error, OSError) else error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    advice = _ADVICE.get(number or 0, "")
    if isinstance(error, ZkConnectionError):
        advice = "With `zookeeper.connect=embedded`, the broker needs no other server."
    if isinstance(error, PortInUseError):
        advice = _port_in_use(error.host, error.port)
    return f"{text}{'' if text[-1:] in '.?' else '.'} {advice}" if advice else text


def _free_port_near(host: str, port: int) -> int:
    """The next port above ``port`` that is free now; 0, which means any free one, if the next hundred are taken."""
    for candidate in range(port + 1, min(port + 100, MAX_PORT) + 1):
        with contextlib.suppress(OSError), socket.create_server((host, candidate)):
            return candidate
    return 0


def _port_in_use(host: str, port: int) -> str:
    """Advice for a port in use: which process listens there, and how to start this broker anyway."""
    command = terminal.own_command()
    another = f"{command} server-start --override listeners=PLAINTEXT://{host}:{_free_port_near(host, port)}"
    for broker in RunningBrokers().find():
        if f":{port} " in broker.facts.get("listeners", ""):
            return (
                f"Your broker {broker.facts.get('broker.id', '?')} (process {broker.pid}) is listening there: "
                f"`{command} server-stop` stops it. To start a second broker with its own data: "
                f"`{another} --override log.dirs=FOLDER`."
            )
    return f"Another program is listening there. To use another port: `{another}`."
