"""``kafka-lite labs broker``, ``cluster``, ``streams`` and ``connect``: a Kafka of one's own, made of what one has
written so far."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafka_learn.labs import overlay
from kafka_learn.labs.own.own_kafka import OwnKafka, own_kafka
from kafka_learn.labs.own.trial import TRIALS, Named, Outcome, run_trials
from kafka_learn.labs.own.trial_program import OF_CONNECT, OF_STREAMS
from kafka_learn.labs.way.verbs import add_verb
from kafka_learn.labs.workspace import default_base
from kafka_learn.project import PROJECT_ROOT
from kafka_lite.tools.common.terminal import own_command
from kafka_lite.tools.server.cluster_start import ForegroundCluster
from kafka_lite.tools.server.foreground import add_override_argument, overrides, run_in_foreground
from kafka_lite.tools.server.local_cluster import LocalCluster

FOLDER = "own-kafka"
"""The folder of the merged modules, beside those of the labs."""
BAR = 24
WORKER_PROPERTIES = PROJECT_ROOT / "config" / "connect-distributed.properties"


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both verbs to those of ``labs``."""
    broker = _own_verb(verbs, "broker", "start a broker that is made of all the functions you have written", _broker)
    broker.add_argument("--check", action="store_true", help="let real clients try it on a port of its own, then stop")
    broker.add_argument("--port", type=int, default=9092, help="where it listens (default: 9092)")
    cluster = _own_verb(
        verbs, "cluster", "start three brokers that are made of all the functions you have written", _cluster
    )
    cluster.add_argument("--port", type=int, default=9092, help="port of broker 0; the others count up (default: 9092)")
    cluster.add_argument("--zookeeper-port", type=int, default=2181, metavar="PORT", help="default: 2181")
    for name, description, run_verb in (
        ("streams", "count words with the Streams library that you have written", _streams),
        ("connect", "start a Connect worker that is made of all the functions you have written", _connect),
    ):
        half = _own_verb(verbs, name, description, run_verb)
        half.add_argument("--check", action="store_true", help="let it work for a while beside a broker of its own")
        half.add_argument(
            "--bootstrap-server", default="127.0.0.1:9092", metavar="HOST:PORT", help="default: %(default)s"
        )


def _own_verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    description: str,
    run_verb: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = add_verb(verbs, name, description, run_verb)
    parser.add_argument(
        "--unchecked", action="store_true", help="take functions, too, whose task was not green in the last check"
    )
    add_override_argument(parser)
    return parser


def _broker(options: argparse.Namespace) -> int:
    files, console = _made(options)
    if not options.check:
        settings = [f"listeners=PLAINTEXT://127.0.0.1:{options.port}", f"log.dirs={_data('broker')}", *options.override]
        arguments = [part for each in settings for part in ("--override", each)]
        _become(overlay.command(files, "kafka_lite.tools.main", "server-start", *arguments))
    return _try(files, console, TRIALS, zh=options.zh)


def _streams(options: argparse.Namespace) -> int:
    files, console = _made(options)
    if not options.check:
        servers = ("--bootstrap-server", options.bootstrap_server)
        _become(overlay.command(files, "examples.word_count", *servers, "--state-dir", str(_data("streams"))))
    return _try(files, console, OF_STREAMS, zh=options.zh)


def _connect(options: argparse.Namespace) -> int:
    files, console = _made(options)
    if not options.check:
        settings = [f"bootstrap.servers={options.bootstrap_server}", *options.override]
        arguments = [str(WORKER_PROPERTIES), *(part for each in settings for part in ("--override", each))]
        _become(overlay.command(files, "kafka_lite.tools.main", "connect-distributed", *arguments))
    return _try(files, console, OF_CONNECT, zh=options.zh)


def _become(command: list[str]) -> NoReturn:
    """Replace this process, so that the broker gets Ctrl-C and signals itself."""
    os.execv(command[0], command)


def _try(files: dict[str, Path], console: Console, trials: Sequence[Named], *, zh: bool) -> int:
    doing = "真实的客户端在试用" if zh else "real clients try it"
    with console.status(doing), tempfile.TemporaryDirectory() as folder:
        outcomes = run_trials(files, Path(folder), trials, zh=zh)
    console.print(trial_table(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _cluster(options: argparse.Namespace) -> int:
    files, _ = _made(options)
    start = overlay.command(files, "kafka_lite.tools.main", "server-start")

    def create() -> ForegroundCluster:
        settings = overrides(options.override)
        cluster = LocalCluster(_data("cluster"), 3, options.port, options.zookeeper_port, settings, start)
        return ForegroundCluster(cluster)

    return run_in_foreground("labs cluster", create)


def _made(options: argparse.Namespace) -> tuple[dict[str, Path], Console]:
    """Write the merged modules, and show what they are made of."""
    console = Console(highlight=False)
    own = own_kafka(unchecked=options.unchecked)
    console.print(house(own, zh=options.zh))
    return own.write(_modules()), console


def _modules() -> Path:
    return (default_base() / FOLDER / "modules").resolve()


def _data(name: str) -> Path:
    """Data of one's own: a mistake may destroy it."""
    return (default_base() / FOLDER / name).resolve()


def house(own: OwnKafka, *, zh: bool = False) -> Group:
    """The rooms of Kafka, each as bright as it is the learner's."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for room in own.rooms:
        lit = round(BAR * room.written / room.asked)
        lights = Text.assemble(("█" * lit, "yellow"), ("░" * (BAR - lit), "dim"))
        table.add_row(room.name, lights, f"{room.written}/{room.asked}", style="" if room.written else "dim")
    head = (
        f"你的 Kafka：{own.asked} 个函数里有 {own.written} 个是你写的"
        if zh
        else (f"Your Kafka: {own.written} of {own.asked} functions are yours")
    )
    parts: list[Table | Text | Padding] = [Text(head, style="bold"), Padding(table, (1, 0, 1, 0))]
    parts += [Text(note, style="yellow") for note in own.notes]
    if not own.written:
        parts.append(_nothing_yet(zh=zh))
    return Group(*parts)


def _nothing_yet(*, zh: bool) -> Text:
    command = own_command()
    if zh:
        return Text(f"这就是发布的 broker。做完一个实验的任务（{command} labs），它的函数就换成你的。")
    return Text(
        f"This is the shipped broker. Finish a task of a lab ({command} labs list), and its functions are yours."
    )


def trial_table(outcomes: list[Outcome]) -> Table:
    """A row for each trial by real clients."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for outcome in outcomes:
        mark = "[green]✓[/]" if outcome.passed else "[red]✗[/]"
        table.add_row(mark, outcome.title, escape(outcome.found))
    return table
