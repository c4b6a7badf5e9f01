"""``kafka-lite connect-mirror-maker``: runs MirrorMaker 2 from one file, until it is stopped.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMaker.java (main), bin/connect-mirror-maker.sh · book 8.1.1
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
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
    from kafka_lite.mirror.dedicated.dedicated_mirror_maker import DedicatedMirrorMaker

NAME = "connect-mirror-maker"
SUMMARY = "mirror clusters with MirrorMaker 2, all ways of one file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's arguments, plus ``--override`` and ``--log-config``."""
    parser.add_argument("config", type=Path, metavar="mm2.properties", help="the clusters and the ways between them")
    parser.add_argument(
        "--clusters", nargs="*", default=[], metavar="NAME", help="only the ways to these clusters, which are near"
    )
    add_override_argument(parser)
    add_log_config_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Mirror until it is stopped; see ``run_in_foreground``."""

    def create() -> ConnectMirrorMaker:
        return ConnectMirrorMaker(load_properties(options.config) | overrides(options.override), options.clusters)

    return run_in_foreground(NAME, create, options.log_config)


class ConnectMirrorMaker:
    """MirrorMaker 2 in its own process. It ends if a worker fails."""

    def __init__(self, props: Mapping[str, str], targets: Sequence[str]) -> None:
        """Raises KafkaError for a file that cannot be used."""
        # Imported here so that --help and a missing file do not wait for the clients.
        from kafka_lite.mirror.dedicated.dedicated_mirror_maker import DedicatedMirrorMaker
        from kafka_lite.mirror.dedicated.mirror_maker_config import MirrorMakerConfig

        self._mirror: DedicatedMirrorMaker = DedicatedMirrorMaker(MirrorMakerConfig(props), targets)

    def startup(self) -> None:
        """Start all workers. Raises KafkaError: the caller then calls ``shutdown``."""
        self._mirror.start()

    def ready_line(self) -> str:
        """The line with the ways."""
        started = terminal.styled(f"kafka_lite {__version__} MirrorMaker started", "bold green")
        return f"{started}: {', '.join(map(str, self._mirror.pairs))}"

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until a worker has stopped; False after ``timeout_s``."""
        return self._mirror.await_stop(timeout_s)

    def shutdown(self) -> None:
        """Stop the connectors and the workers."""
        self._mirror.stop()
