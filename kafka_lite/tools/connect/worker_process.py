"""The common part of ``connect-standalone`` and ``connect-distributed``: arguments, and a worker in its own process.

Kafka 0.10.2: connect/runtime/.../connect/cli/ConnectStandalone.java, ConnectDistributed.java (main) · book 8.3.3
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite import __version__
from kafka_lite.common.properties import load_properties
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.foreground import add_log_config_argument, add_override_argument, overrides

if TYPE_CHECKING:
    from kafka_lite.connect.runtime.connect import Connect


def add_worker_argument(parser: argparse.ArgumentParser, example: str) -> None:
    """Add the file of the worker; ``example`` is one that is shipped."""
    parser.add_argument("worker", type=Path, metavar="WORKER.properties", help=f"the worker, such as {example}")


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--override`` and ``--log-config``, as for the broker."""
    add_override_argument(parser)
    add_log_config_argument(parser)


def worker_properties(options: argparse.Namespace) -> dict[str, str]:
    """The properties of the file, with the overrides. Raises OSError, KafkaError."""
    return load_properties(options.worker) | overrides(options.override)


class WorkerProcess(ABC):
    """A worker that ``run_in_foreground`` runs."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._worker = worker
        self._connect: Connect | None = None

    @abstractmethod
    def startup(self) -> None:
        """Start the worker. Raises KafkaError: the caller then calls ``shutdown``."""

    @abstractmethod
    def described(self) -> str:
        """The end of the ready line."""

    def ready_line(self) -> str:
        """The line with the URL of the REST interface."""
        started = terminal.styled(f"kafka_lite {__version__} Connect started", "bold green")
        url = self._connect.rest.advertised_url if self._connect is not None else ""
        return f"{started}: REST interface {url}, {self.described()}"

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until the worker has stopped; False after ``timeout_s``."""
        return self._connect is None or self._connect.await_stop(timeout_s)

    def shutdown(self) -> None:
        """Stop the connectors and the worker."""
        if self._connect is not None:
            self._connect.stop()
