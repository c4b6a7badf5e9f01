"""The console's program: runs the reader's cells inside the world, with the project's own producer, consumer and tools.

Not in Kafka. It is a process like the other clients: a call that blocks lets the time of the world pass. Cells share
their names, as in a notebook::

    Producer(acks="all").send(ProducerRecord("demo", b"value")).get()       a KafkaProducer
    for record in Consumer("demo").poll(1000): …                            a KafkaConsumer, from the start
    Admin().describe(["demo"])                                              the connection of the admin tools
    kafka-lite topics --describe                                            a tool, for this cluster
"""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import queue
import re
import shlex
import sys
import traceback
from typing import Any, Final, NamedTuple, Protocol

from kafka_learn.live.clients.client_programs import CONSUMER_CONFIGS, PRODUCER_CONFIGS
from kafka_lite.testing.simulation.system.switching import SWITCH, with_switches

TOOL: Final = "kafka-lite"
_TOOL_LINE: Final = re.compile(rf"^(?P<indent>\s*)!?\s*{TOOL}(?P<words>\s.*)?$")
BOOTSTRAP, ZOOKEEPER = "--bootstrap-server", "--zookeeper"
TALK_TO_BROKERS: Final = (
    "topics",
    "configs",
    "consumer-groups",
    "get-offsets",
    "delete-records",
    "log-dirs",
    "leader-election",
)
"""Tools that get the cluster's address if the line has none."""


class Cell(NamedTuple):
    """Code of the reader."""

    number: int
    source: str


class Witness(Protocol):
    """Hears how cells end; what they print arrives on stdout and stderr."""

    def ended(self, number: int, failure: str) -> None:
        """A cell has ended, with a traceback if it failed."""
        ...


cells: queue.Queue[Cell] = queue.Queue()
"""Cells for the console of this process."""


def console(bootstrap: str, witness: Witness) -> None:
    """Run the cells, one after the other, in the same names."""
    names = names_for(bootstrap)
    while True:
        cell = cells.get()
        witness.ended(cell.number, run(cell, names))


def run(cell: Cell, names: dict[str, Any]) -> str:
    """Run a cell, and print the value of its last expression. Returns the traceback of what it raised, or nothing."""
    file = f"<cell {cell.number}>"
    linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
    try:
        _execute(with_tools(cell.source), file, names)
    except SystemExit as ending:
        return f"exit code {ending.code}\n" if ending.code else ""
    except Exception as error:  # noqa: BLE001  whatever it is, the reader sees it
        return cell_traceback(error, file)
    return ""


def _execute(source: str, file: str, names: dict[str, Any]) -> None:
    module = with_switches(source.encode(), file, is_program=True)
    last = module.body[-1] if module.body else None
    value = ast.Expression(module.body.pop().value) if isinstance(last, ast.Expr) else None  # type: ignore[attr-defined]
    exec(compile(module, file, "exec"), names)
    if value is not None and (shown := eval(compile(value, file, "eval"), names)) is not None:
        sys.stdout.write(f"{shown!r}\n")


def cell_traceback(error: BaseException, file: str) -> str:
    """The traceback without the frames below and above the cell's."""
    found = traceback.TracebackException.from_exception(error)
    found.stack = traceback.StackSummary.from_list([frame for frame in found.stack if frame.filename == file])
    if found.__cause__ is not None or found.__context__ is not None:
        found.__cause__ = found.__context__ = None
    return "".join(found.format())


def with_tools(source: str) -> str:
    """The source with each line that begins with ``kafka-lite`` as a call of the tool, in the same place."""
    return "\n".join(
        f"{line['indent']}run_tool({(line['words'] or '').strip()!r})" if (line := _TOOL_LINE.match(text)) else text
        for text in source.split("\n")
    )


# ── names of the cells ────────────────────────────────────────────────────────────────────────────────────────────────


def names_for(bootstrap: str) -> dict[str, Any]:
    """The names that each cell finds."""
    from kafka_lite.consumer import KafkaConsumer
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    groups = (f"console-{number}" for number in itertools.count(1))

    def producer(**configs: object) -> Any:
        """A KafkaProducer; ``linger_ms=5`` stands for the configuration linger.ms."""
        return KafkaProducer({**PRODUCER_CONFIGS, "bootstrap.servers": bootstrap, **_dotted(configs)})

    def consumer(*topics: str, **configs: object) -> Any:
        """A KafkaConsumer that has subscribed to the topics, in a group of its own unless ``group_id`` names one."""
        own = {"bootstrap.servers": bootstrap, "group.id": next(groups), "client.id": "console"}
        made = KafkaConsumer({**CONSUMER_CONFIGS, **own, **_dotted(configs)})
        if topics:
            made.subscribe(list(topics))
        return made

    return {
        "__builtins__": {**_builtins(), SWITCH: _builtins().get(SWITCH, lambda: None)}, "__name__": "__console__",
        "bootstrap": bootstrap, "Producer": producer, "Consumer": consumer, "Admin": lambda: _admin(bootstrap),
        "KafkaProducer": KafkaProducer, "KafkaConsumer": KafkaConsumer, "ProducerRecord": ProducerRecord,
        "run_tool": lambda words: run_tool(words, bootstrap),
    }  # fmt: skip


def _builtins() -> dict[str, Any]:
    """The builtins of this process."""
    found = globals()["__builtins__"]
    return dict(found) if isinstance(found, dict) else dict(vars(builtins))


def _dotted(configs: dict[str, object]) -> dict[str, object]:
    return {name.replace("_", "."): value for name, value in configs.items()}


def _admin(bootstrap: str) -> Any:
    """The connection of the admin tools, with topics as ``topics`` sees them."""
    from kafka_lite.tools.admin.admin_channel import AdminChannel
    from kafka_lite.tools.admin.topic_service import BrokerTopicService

    channel = AdminChannel(bootstrap)
    channel.connect()
    return BrokerTopicService(channel)


def run_tool(words: str, bootstrap: str) -> None:
    """Run ``kafka-lite`` with these words. An exit code other than 0 is shown."""
    from kafka_lite.tools import main

    code = main.main(with_address(shlex.split(words), bootstrap))
    if code:
        sys.stderr.write(f"exit code {code}\n")


def with_address(words: list[str], bootstrap: str) -> list[str]:
    """The words of a tool's line, with the cluster's address unless they name one or ask for help."""
    has_one = {BOOTSTRAP, ZOOKEEPER, "--help", "-h"} & {word.partition("=")[0] for word in words}
    return [*words, BOOTSTRAP, bootstrap] if words and words[0] in TALK_TO_BROKERS and not has_one else words
