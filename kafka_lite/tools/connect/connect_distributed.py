"""``kafka-lite connect-distributed``: runs a worker of a group until it is stopped. Connectors come by the REST
interface of any worker.

Kafka 0.10.2: connect/runtime/.../connect/cli/ConnectDistributed.java, bin/connect-distributed.sh · book 8.3.1
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite import __version__
from kafka_lite.common.properties import load_properties
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.foreground import (
    add_log_config_argument,
    add_override_argument,
    overrides,
    run_in_foreground,
)

if TYPE_CHECKING:
    from kafka_lite.connect.runtime.connect import Connect

NAME = "connect-distributed"
SUMMARY = "run a worker of a group that shares connectors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's argument, the file, plus ``--override`` and ``--log-config`` as for the broker."""
    parser.add_argument(
        "worker",
        type=Path,
        metavar="WORKER.properties",
        help="the worker, such as config/connect-distributed.properties",
    )
    add_override_argument(parser)
    add_log_config_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Run the worker until it is stopped; see ``run_in_foreground``."""
    return run_in_foreground(
        NAME,
        lambda: ConnectDistributed(load_properties(options.worker) | overrides(options.override)),
        options.log_config,
    )


class ConnectDistributed:
    """A worker that runs in its own process, and ends if its herder fails."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._worker = worker
        self._connect: Connect | None = None

    def startup(self) -> None:
        """Start the worker, which then joins its group. Raises KafkaError: the caller then calls ``shutdown``."""
        # Imported here so that --help and a missing file do not wait for the clients.
        from kafka_lite.connect.runtime.new_connect import new_distributed_connect

        self._connect = new_distributed_connect(self._worker)
        self._connect.start()

    def ready_line(self) -> str:
        """The line with the URL of the REST interface and the group."""
        started = terminal.styled(f"kafka_lite {__version__} Connect started", "bold green")
        url = self._connect.rest.advertised_url if self._connect is not None else ""
        return f"{started}: REST interface {url}, group {self._worker['group.id']}"

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until the worker has stopped; False after ``timeout_s``."""
        return self._connect is None or self._connect.await_stop(timeout_s)

    def shutdown(self) -> None:
        """Stop what runs here, and leave the group."""
        if self._connect is not None:
            self._connect.stop()
