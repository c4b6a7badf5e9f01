"""``kafka-lite server-start``: runs a broker in the foreground until it is stopped.

Kafka 0.10.2: core/.../Kafka.scala, bin/kafka-server-start.sh · book 1.4.1
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from kafka_lite import __version__
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.app_info_parser import build_name, is_compiled
from kafka_lite.common.properties import load_properties
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.foreground import (
    add_log_config_argument,
    add_override_argument,
    overrides,
    run_in_foreground,
)

logger = logging.getLogger(__name__)

NAME = "server-start"
SUMMARY = "start a broker in the foreground"

_HERE = Path(__file__).resolve()
SHIPPED_FILES = (_HERE.with_name("server.properties"), _HERE.parents[3] / "config" / "server.properties")
"""Possible places of the shipped configuration: beside this module (installed from a wheel) or in the source tree."""


# For the first line of the log: which build runs, and how to get the other one.
_PLAIN = "plain Python. For the faster compiled build: `make compiled broker` in a clone, or a wheel for this platform"
_COMPILED = "compiled. For plain Python: `make broker BUILD=plain` in a clone, or the py3-none-any wheel"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's arguments, the file and ``--override``, plus ``--log-config``."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a server.properties file (default: the one shipped with kafka_lite)",
    )
    add_override_argument(parser)
    add_log_config_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Run the broker until it is stopped; see ``run_in_foreground``."""

    def create() -> ForegroundBroker:
        properties = load_properties(options.file or shipped_properties())
        logger.info("kafka_lite %s, %s", __version__, _COMPILED if is_compiled() else _PLAIN)
        return ForegroundBroker(properties | overrides(options.override))

    return run_in_foreground(NAME, create, options.log_config)


def shipped_properties() -> Path:
    """The configuration shipped with kafka_lite. Raises KafkaError if it is missing."""
    for file in SHIPPED_FILES:
        if file.is_file():
            return file
    raise KafkaError("the shipped server.properties is missing; give a file: kafka-lite server-start FILE")


class ForegroundBroker:
    """A KafkaServer that ``kafka-lite server-stop`` can find."""

    def __init__(self, properties: dict[str, str]) -> None:
        # Imported here so that --help and a missing file do not wait for the import of the whole broker.
        from kafka_lite.server.kafka_config import KafkaConfig
        from kafka_lite.server.kafka_server import KafkaServer
        from kafka_lite.tools.server.running_brokers import RunningBrokers

        self._server = KafkaServer(KafkaConfig(properties))
        self._brokers = RunningBrokers()

    def startup(self) -> None:
        """Start the broker and register it as running."""
        self._server.startup()
        config = self._server.config
        facts = {
            "broker.id": str(config.broker_id),
            "listeners": self._listeners(),
            "log.dirs": ",".join(config.log_dirs),
            "zookeeper.connect": self._zookeeper(),
        }
        if self._server.metrics.http_server is not None:
            facts["metrics.url"] = self._server.metrics.http_server.url
        self._brokers.enter(facts)

    def ready_line(self) -> str:
        """The line for users and scripts that wait for the broker: its addresses and data directories."""
        config, embedded = self._server.config, self._server.embedded_zookeeper
        zookeeper = f"{self._zookeeper()}{' (embedded)' if embedded is not None else ''}"
        started = terminal.styled(f"kafka_lite {__version__} ({build_name()}) started", "bold green")
        directories = ",".join(str(Path(directory).resolve()) for directory in config.log_dirs)
        line = f"{started}: {self._listeners()}, ZooKeeper {zookeeper}, log.dirs={directories}"
        return f"{line}\n{self._what_to_try()}" if terminal.on_terminal() else line

    def _what_to_try(self) -> str:
        """Commands for a user who sees this; a script or a journal gets the line above only."""
        listener = self._server.config.listeners[0]
        host = listener.host if listener.host not in ("", "0.0.0.0", "::") else "127.0.0.1"
        address = f"{_host(host)}:{self._server.bound_port(listener.listener_name)}"
        command, server = terminal.own_command(), f"--bootstrap-server {address}"
        return "\n".join(
            [
                "Try, in another terminal:",
                f"  {command} topics {server} --create --topic orders",
                f"  {command} console-producer {server} --topic orders",
                f"  {command} console-consumer {server} --topic orders --from-beginning",
                f"  {command} top",
                "Ctrl-C stops the broker.",
            ]
        )

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until the broker has stopped by itself; False after ``timeout_s``."""
        return self._server.await_shutdown(timeout_s)

    def shutdown(self) -> None:
        """Stop the broker, then unregister it, so that ``server-stop`` can wait for it."""
        self._server.shutdown()
        self._brokers.leave()

    def _zookeeper(self) -> str:
        embedded = self._server.embedded_zookeeper
        return self._server.config.zk_connect if embedded is None else embedded.connect_string

    def _listeners(self) -> str:
        return ", ".join(
            f"{_host(listener.host)}:{self._server.bound_port(listener.listener_name)} ({listener.listener_name})"
            for listener in self._server.config.listeners
        )


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
