"""``kafka-lite server-start``: one broker in the foreground, until it is told to stop.

Kafka 0.10.2: core/.../Kafka.scala, server/KafkaServerStartable.scala, bin/kafka-server-start.sh · book 1.4.1
"""

from __future__ import annotations

import argparse
import errno
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.tools import terminal
from kafka_lite.tools.logging_config import configure_logging
from kafka_lite.tools.running_brokers import RunningBrokers
from kafka_lite.tools.stop_signals import StopRequested, StopSignals

if TYPE_CHECKING:
    from kafka_lite.server.kafka_server import KafkaServer

NAME = "server-start"
SUMMARY = "start a broker in the foreground"

logger = logging.getLogger(__name__)

_HERE = Path(__file__).resolve()
SHIPPED_FILES = (_HERE.with_name("server.properties"), _HERE.parents[2] / "config" / "server.properties")
"""Where the shipped configuration lies: beside this module when installed from a wheel, or in the source tree."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's: the file and ``--override``."""
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="server.properties (default: the shipped one)"
    )
    add_override_argument(parser)


def add_override_argument(parser: argparse.ArgumentParser) -> None:
    """``--override property=value``, as often as one likes."""
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="property=value",
        help="set a property, whatever the file says; may be given several times",
    )


def run(options: argparse.Namespace) -> int:
    """Start the broker, say so in one line on stdout, and stop it on SIGTERM or Ctrl-C (exit code 0).

    What keeps it from starting is told in one line on stderr (exit code 1).
    """
    signals = StopSignals()
    server: KafkaServer | None = None
    try:
        signals.install()
        configure_logging()
        server = _create_server(options)
        server.startup()
        _serve(server)
        return 1  # it stopped by itself; the log tells why
    except StopRequested:
        return 0
    except (KafkaError, OSError) as error:
        terminal.print_error(f"kafka-lite {NAME}: {explain(error)}")
        return 1
    finally:
        signals.disarm()
        if server is not None:
            server.shutdown()


def _create_server(options: argparse.Namespace) -> KafkaServer:
    properties = load_properties(options.file or shipped_properties()) | overrides(options.override)
    # Only now: whoever asked for --help, or gave a file that is not there, need not wait for the whole broker.
    from kafka_lite.server.kafka_config import KafkaConfig
    from kafka_lite.server.kafka_server import KafkaServer

    return KafkaServer(KafkaConfig(properties))


def _serve(server: KafkaServer) -> None:
    brokers = RunningBrokers()
    try:
        brokers.enter(
            {
                "broker.id": str(server.config.broker_id),
                "listeners": _listeners(server),
                "log.dirs": ",".join(server.config.log_dirs),
            }
        )
        print(ready_line(server), flush=True)
        server.await_shutdown()
    finally:
        brokers.leave()


def shipped_properties() -> Path:
    """The configuration that comes with kafka_lite. Raises KafkaError when somebody has removed it."""
    for file in SHIPPED_FILES:
        if file.is_file():
            return file
    raise KafkaError("the shipped server.properties is missing; name a file: kafka-lite server-start FILE")


def overrides(entries: Iterable[str]) -> dict[str, str]:
    """``property=value`` entries as a mapping; the last one of a property counts. Raises KafkaError."""
    result = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals or not name.strip():
            raise KafkaError(f"--override {entry!r} is not of the form property=value")
        result[name.strip()] = value.strip()
    return result


def ready_line(server: KafkaServer) -> str:
    """What the user, and whoever waits for the broker, wants to know: where it is reached and where its data lie."""
    from kafka_lite import __version__

    embedded = server.embedded_zookeeper
    zookeeper = f"{embedded.connect_string} (embedded)" if embedded is not None else server.config.zk_connect
    started = terminal.styled(f"kafka_lite {__version__} started", "bold green")
    directories = ",".join(str(Path(directory).resolve()) for directory in server.config.log_dirs)
    return f"{started}: {_listeners(server)}, ZooKeeper {zookeeper}, log.dirs={directories}"


def _listeners(server: KafkaServer) -> str:
    return ", ".join(
        f"{_host(listener.host)}:{server.bound_port(listener.listener_name)} ({listener.listener_name})"
        for listener in server.config.listeners
    )


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def explain(error: Exception) -> str:
    """The error in words, and what to do about it where that is known."""
    from kafka_lite.zookeeper.zookeeper_client import ZkConnectionError

    cause = error if isinstance(error, OSError) else error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    advice = _ADVICE.get(number or 0) or (_ZOOKEEPER_ADVICE if isinstance(error, ZkConnectionError) else "")
    return f"{text.rstrip('.')}. {advice}" if advice else text


_ZOOKEEPER_ADVICE = "Does it run there? `zookeeper.connect=embedded` needs no other server."
_STOP_OR_MOVE = "Does another broker run? `kafka-lite server-stop` stops yours;"
_ADVICE = {
    errno.EADDRINUSE: f"{_STOP_OR_MOVE} or choose another port (listeners, zookeeper.embedded.port).",
    errno.EAGAIN: f"{_STOP_OR_MOVE} or give this one a log.dirs of its own.",
    errno.EADDRNOTAVAIL: "This machine does not have that address: see listeners.",
    errno.ENOENT: "Does the file or folder exist?",
    errno.EACCES: "Choose what this user may use (log.dirs, a port above 1023), or change the permissions.",
    errno.EROFS: "Choose a log.dirs that can be written to.",
}
