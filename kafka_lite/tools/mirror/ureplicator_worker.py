"""``kafka-lite ureplicator-worker``: copies the partitions that uReplicator's controller gives it, until it is stopped.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/MirrorMakerWorker.scala (main) · book 8.2.3
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.properties import load_properties
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.mirror.run_mirror import read_boolean, run_mirror

if TYPE_CHECKING:
    from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker
    from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig

NAME = "ureplicator-worker"
SUMMARY = "copy the partitions that uReplicator's controller assigns, until it is stopped"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of uReplicator's worker."""
    parser.add_argument(
        "--consumer.config", dest="consumer_config", type=Path, metavar="FILE",
        help="consumer configs of the source cluster (required): zookeeper.connect, group.id",
    )  # fmt: skip
    parser.add_argument(
        "--producer.config", dest="producer_config", type=Path, metavar="FILE",
        help="producer configs of the target cluster (required)",
    )  # fmt: skip
    parser.add_argument(
        "--helix.config", dest="helix_config", type=Path, metavar="FILE",
        help="zkServer, helixClusterName and instanceId (required)",
    )  # fmt: skip
    parser.add_argument(
        "--offset.commit.interval.ms", dest="offset_commit_interval_ms", type=int, default=60_000, metavar="MS",
        help="time between two commits (default: 60000)",
    )  # fmt: skip
    parser.add_argument(
        "--abort.on.send.failure", dest="abort_on_send_failure", default="true", metavar="true|false",
        help="stop if a record cannot be sent (default: true); false: leave it out and continue",
    )  # fmt: skip
    parser.add_argument(
        "--topic.mappings", dest="topic_mappings", type=Path, metavar="FILE",
        help="lines with two words: a topic of the source, and its name in the target",
    )  # fmt: skip


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Copy until a signal (exit code 143, 130 or 129) or a failure (255); 1 if the worker cannot start."""
    configure_logging(default_level="WARN")
    config = read_config(options)
    return run_mirror(lambda: _worker(config))


def read_config(options: argparse.Namespace) -> MirrorMakerWorkerConfig:
    """The flags and the files. Raises ToolError, MirrorMakerConfigError, ConfigError, OSError, PropertiesError."""
    from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
    from kafka_lite.mirror.ureplicator.worker.topic_mappings import parse_topic_mappings

    flags = ("consumer.config", "producer.config", "helix.config")
    files = {flag: getattr(options, flag.replace(".", "_")) for flag in flags}
    if not any(files.values()):
        raise ToolError(
            "Continuously copy data between two Kafka clusters: --consumer.config says from which one, "
            "--producer.config to which one, --helix.config who says which partitions. "
            "`kafka-lite ureplicator-worker --help` has the other flags."
        )
    for flag, file in files.items():
        if file is None:
            raise ToolError(f'Missing required argument "[{flag}]"')
    mappings = options.topic_mappings
    config = MirrorMakerWorkerConfig(
        consumer=load_properties(options.consumer_config),
        producer=load_properties(options.producer_config),
        helix=load_properties(options.helix_config),
        offset_commit_interval_ms=options.offset_commit_interval_ms,
        abort_on_send_failure=read_boolean(options.abort_on_send_failure),
        topic_mappings={} if mappings is None else parse_topic_mappings(mappings.read_text("utf-8").splitlines()),
    )
    config.check()
    return config


def _worker(config: MirrorMakerWorkerConfig) -> MirrorMakerWorker:
    from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker

    return MirrorMakerWorker.create(config)
