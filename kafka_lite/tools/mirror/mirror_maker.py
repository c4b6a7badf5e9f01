"""``kafka-lite mirror-maker``: copies topics of one cluster to another one, until it is stopped.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (main), bin/kafka-mirror-maker.sh · book 8.1.1
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.properties import load_properties
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import on_terminal, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.mirror.run_mirror import read_boolean, run_mirror

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
    from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
    from kafka_lite.tools.mirror.run_mirror import Show

NAME = "mirror-maker"
SUMMARY = "copy topics to another cluster, until it is stopped"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-mirror-maker.sh, and ``--watch``."""
    parser.add_argument(
        "--consumer.config", dest="consumer_config", type=Path, metavar="FILE",
        help="consumer configs of the source cluster (required); zookeeper.connect in it selects the old consumer",
    )  # fmt: skip
    parser.add_argument(
        "--producer.config", dest="producer_config", type=Path, metavar="FILE",
        help="producer configs of the target cluster (required)",
    )  # fmt: skip
    parser.add_argument(
        "--new.consumer", dest="new_consumer", action="store_true", help="no effect, since this is the default"
    )
    parser.add_argument(
        "--num.streams", dest="num_streams", type=int, default=1, metavar="N",
        help="number of threads, each with its own consumer (default: 1)",
    )  # fmt: skip
    parser.add_argument("--whitelist", metavar="REGEX", help="copy the topics whose whole names match; A,B means A|B")
    parser.add_argument("--blacklist", metavar="REGEX", help="copy all other topics; old consumer only")
    parser.add_argument(
        "--offset.commit.interval.ms", dest="offset_commit_interval_ms", type=int, default=60_000, metavar="MS",
        help="time between two commits of each thread (default: 60000)",
    )  # fmt: skip
    parser.add_argument(
        "--abort.on.send.failure", dest="abort_on_send_failure", default="true", metavar="true|false",
        help="stop if a record cannot be sent (default: true); false: leave it out and continue",
    )  # fmt: skip
    _add_classes(parser)
    parser.add_argument(
        "--watch", action="store_true", help="show rates and the lag of each partition until Ctrl-C; needs a terminal"
    )


def _add_classes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--message.handler", dest="message_handler", metavar="CLASS",
        help="package.module.Class of yours, a MirrorMakerMessageHandler: what to send for a record",
    )  # fmt: skip
    parser.add_argument(
        "--message.handler.args", dest="message_handler_args", metavar="TEXT", help="passed to that class"
    )
    parser.add_argument(
        "--consumer.rebalance.listener", dest="consumer_rebalance_listener", metavar="CLASS",
        help="package.module.Class of yours, a ConsumerRebalanceListener of the consumer that is used",
    )  # fmt: skip
    parser.add_argument(
        "--rebalance.listener.args", dest="rebalance_listener_args", metavar="TEXT", help="passed to that class"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Copy until a signal (exit code 143, 130 or 129) or a failure (255); 1 if the mirror cannot start."""
    configure_logging(default_level="WARN")
    config = read_config(options)
    if options.watch and not on_terminal():
        raise ToolError("--watch requires a terminal")
    if config.warns_of_assignment:
        from kafka_lite.mirror.maker.mirror_maker_config import ASSIGNMENT_WARNING

        print_to_stderr(ASSIGNMENT_WARNING)
    return run_mirror(lambda: _mirror(config), _view if options.watch else None)


def read_config(options: argparse.Namespace) -> MirrorMakerConfig:
    """The flags and the files. Raises ToolError, MirrorMakerConfigError, OSError, PropertiesError."""
    from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig

    if options.consumer_config is None and options.producer_config is None:
        raise ToolError(
            "Continuously copy data between two Kafka clusters: --consumer.config says from which one, "
            "--producer.config to which one, --whitelist which topics. `kafka-lite mirror-maker --help` has the other "
            "flags."
        )
    for flag in ("consumer.config", "producer.config"):
        if getattr(options, flag.replace(".", "_")) is None:
            raise ToolError(f'Missing required argument "[{flag}]"')
    config = MirrorMakerConfig(
        consumer=load_properties(options.consumer_config),
        producer=load_properties(options.producer_config),
        new_consumer=options.new_consumer,
        num_streams=options.num_streams,
        whitelist=options.whitelist,
        blacklist=options.blacklist,
        offset_commit_interval_ms=options.offset_commit_interval_ms,
        abort_on_send_failure=read_boolean(options.abort_on_send_failure),
        message_handler=options.message_handler,
        message_handler_args=options.message_handler_args,
        consumer_rebalance_listener=options.consumer_rebalance_listener,
        rebalance_listener_args=options.rebalance_listener_args,
    )
    config.check()
    return config


def _mirror(config: MirrorMakerConfig) -> MirrorMaker:
    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker

    return MirrorMaker.create(config)


def _view(mirror: MirrorMaker) -> AbstractContextManager[Show]:
    from kafka_lite.tools.mirror.mirror_maker_view import watching

    return watching(mirror, SYSTEM_TIME)
