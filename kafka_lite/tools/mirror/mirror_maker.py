"""``kafka-lite mirror-maker``: copies topics of one cluster to another one, until it is stopped.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (main), bin/kafka-mirror-maker.sh · book 8.1.1
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.properties import load_properties
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.stop_signals import SIGNAL_CHECK_S, StopRequested, StopSignals
from kafka_lite.tools.common.terminal import on_terminal, print_error, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
    from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig

logger = logging.getLogger(__name__)

NAME = "mirror-maker"
SUMMARY = "copy topics to another cluster, until it is stopped"

ABNORMAL_EXIT = 255
"""The exit code after a lost record or a failed thread: Kafka's -1."""
PATIENCE_S = 10.0
"""How long a stop may take before the user is told why."""

Show = Callable[[], None]


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
    return _copy(config, options.watch)


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
        abort_on_send_failure=_boolean(options.abort_on_send_failure),
        message_handler=options.message_handler,
        message_handler_args=options.message_handler_args,
        consumer_rebalance_listener=options.consumer_rebalance_listener,
        rebalance_listener_args=options.rebalance_listener_args,
    )
    config.check()
    return config


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ToolError(f'--abort.on.send.failure {text}: For input string: "{text}"; it must be true or false')
    return text.lower() == "true"


def _copy(config: MirrorMakerConfig, watch: bool) -> int:
    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker

    signals = StopSignals()
    mirror: MirrorMaker | None = None
    try:
        signals.install()
        try:
            mirror = MirrorMaker.create(config)
        except Exception as error:  # whatever the user's classes raise, too
            signals.raise_again()
            print_error(f"Exception when starting mirror maker. {error}")
            logger.debug("Exception when starting mirror maker.", exc_info=True)
            return 1
        mirror.start()
        with _view(mirror) if watch else nullcontext(_show_nothing) as show:
            while not mirror.await_end(SIGNAL_CHECK_S):
                show()
        print_error("Mirror maker thread exited abnormally, stopping the whole mirror maker.")
        return ABNORMAL_EXIT
    except StopRequested as stop:
        return stop.exit_code
    finally:
        signals.disarm()
        if mirror is not None:
            _shut_down(mirror)


def _shut_down(mirror: MirrorMaker) -> None:
    mirror.initiate_shutdown()
    if not mirror.await_shutdown(PATIENCE_S):
        print_to_stderr(
            "Waiting for the target cluster to acknowledge the last records. Ctrl-C ends the mirror at once; "
            "the records since the last commit are then copied again by the next one."
        )
        while not mirror.await_shutdown(PATIENCE_S):
            pass


def _show_nothing() -> None:
    """Without --watch."""


def _view(mirror: MirrorMaker) -> AbstractContextManager[Show]:
    from kafka_lite.tools.mirror.mirror_maker_view import watching

    return watching(mirror, SYSTEM_TIME)
