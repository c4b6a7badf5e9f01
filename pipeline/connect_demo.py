"""``make connect``: a shop's orders from SQLite through a topic into Parquet files, live, and a check of all of them.

Kafka 0.10.2: bin/connect-standalone.sh · book 8.3.1

    orders (SQLite) --SqlSource--> topic shop-orders --ParquetSink--> files by country
       |                                                                |
       +-------------------------- the same rows? ----------------------+

All its files are in the folder ``connect-demo`` of the working directory, which each run recreates.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from pipeline.demo import make_folder, run_demo
from pipeline.stop_signals import StopSignals

FOLDER = Path("connect-demo")
TOPIC = "shop-orders"
COUNTRIES = ("AT", "CH", "DE", "FR", "IT")
DRINKS = ("tea", "coffee", "milk", "juice", "water")
PATIENCE_S = 120.0
"""How long the files may lag behind the shop at the end."""
_WIDTH = 110
_JSON = "org.apache.kafka.connect.json.JsonConverter"
Row = tuple[int, str, str, float]


class ConnectDemo:
    """The steps of the demo, in the order of ``run``."""

    def __init__(self, console: Console, folder: Path, orders: int, per_second: float) -> None:
        self._console = console
        self._folder = folder
        self._orders = orders
        self._pause_s = 1 / per_second
        self._shop = folder / "shop.db"
        self._lake = folder / "lake"

    def run(self) -> None:
        """Run all steps. Raises ``KafkaError`` if one fails; leaves nothing running in any case."""
        self._console.print(Panel(_INTRODUCTION, title="kafka_lite Connect", title_align="left", border_style="cyan"))
        make_folder(self._folder)
        self._open_shop()
        with contextlib.ExitStack() as stack:
            servers = self._start_broker(stack)
            connect = self._start_worker(stack, servers)
            self._watch(stack, connect, servers)
        self._verify()

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    def _open_shop(self) -> None:
        with contextlib.closing(sqlite3.connect(self._shop)) as shop:
            shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, country TEXT NOT NULL, what TEXT, price REAL)")

    def _start_broker(self, stack: contextlib.ExitStack) -> str:
        from kafka_lite.connect.runtime.topic_admin import TopicAdmin
        from kafka_lite.server.broker_process import BrokerProcess

        broker = stack.enter_context(BrokerProcess(self._folder))
        TopicAdmin({"bootstrap.servers": broker.bootstrap_servers}).ensure_exists(TOPIC, 1, 1)
        self._console.print(f"A broker runs on {broker.bootstrap_servers}")
        return broker.bootstrap_servers

    def _start_worker(self, stack: contextlib.ExitStack, servers: str) -> Any:
        from kafka_lite.connect.runtime.new_connect import new_standalone_connect

        logging.basicConfig(filename=self._folder / "connect.log", level=logging.INFO)
        worker, connectors = self._configurations(servers)
        connect = new_standalone_connect(worker)
        connect.start()
        stack.callback(connect.stop)
        for config in connectors:
            connect.herder.put_connector_config(config["name"], config, allow_replace=False).result()
        self._console.print(f"A worker runs on {connect.rest.advertised_url}")
        self._console.print(f"Its connectors: {self._folder}/shop.properties and {self._folder}/lake.properties")
        return connect

    def _configurations(self, servers: str) -> tuple[dict[str, str], list[dict[str, str]]]:
        """Of the worker and of its connectors, which are written into files, too."""
        converters = {f"{prefix}{part}.converter": _JSON for prefix in ("", "internal.") for part in ("key", "value")}
        worker = converters | {
            "bootstrap.servers": servers,
            "internal.key.converter.schemas.enable": "false",
            "internal.value.converter.schemas.enable": "false",
            "offset.storage.file.filename": str(self._folder / "connect.offsets"),
            "offset.flush.interval.ms": "1000",
            "rest.port": "0",
        }
        shop = {
            "name": "shop",
            "connector.class": "SqlSource",
            "connection.url": f"sqlite:///{self._shop.resolve()}",
            "mode": "incrementing",
            "topic.prefix": "shop-",
            "poll.interval.ms": "200",
        }
        lake = {
            "name": "lake",
            "connector.class": "ParquetSink",
            "topics": TOPIC,
            "store.url": str(self._lake.resolve()),
            "partitioner.class": "FieldPartitioner",
            "partition.field.name": "country",
            "flush.size": "100",
            "rotate.interval.ms": "2000",
        }
        for name, config in (("worker", worker), ("shop", shop), ("lake", lake)):
            (self._folder / f"{name}.properties").write_text(dump_properties(config), encoding="utf-8")
        return worker, [shop, lake]

    def _sell(self) -> None:
        """One order after the other, in the shop's own thread."""
        numbers = random.Random(7)
        with contextlib.closing(sqlite3.connect(self._shop, isolation_level=None, timeout=60)) as shop:
            for number in range(1, self._orders + 1):
                row = (number, numbers.choice(COUNTRIES), numbers.choice(DRINKS), round(numbers.uniform(1, 9), 2))
                shop.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
                time.sleep(self._pause_s)

    def _watch(self, stack: contextlib.ExitStack, connect: Any, servers: str) -> None:
        """Draw until all orders are in files. Raises KafkaError if that takes too long."""
        from kafka_lite.consumer.kafka_consumer import KafkaConsumer
        from kafka_lite.tools.connect.connect_rest import ConnectRest

        consumer = stack.enter_context(contextlib.closing(KafkaConsumer({"bootstrap.servers": servers})))
        rest = stack.enter_context(contextlib.closing(ConnectRest(connect.rest.advertised_url)))
        selling = threading.Thread(target=self._sell, daemon=True)
        selling.start()
        with Live(console=self._console, auto_refresh=False) as live:
            for records in _until(self._orders, lambda: sum(map(_rows_in, self._files())), selling):
                end = consumer.end_offsets([TopicPartition(TOPIC, 0)])[TopicPartition(TOPIC, 0)]
                live.update(self._frame(rest, end, records), refresh=True)
        if not self._console.is_terminal:  # there the last frame ends without a line break
            self._console.print()

    def _frame(self, rest: Any, in_topic: int, in_files: int) -> RenderableType:
        from kafka_lite.tools.connect.connect_snapshot import connect_snapshot
        from kafka_lite.tools.connect.connect_view import overview

        table = Table.grid(padding=(0, 2))
        with contextlib.closing(sqlite3.connect(self._shop, timeout=60)) as shop:
            (in_table,) = shop.execute("SELECT count(*) FROM orders").fetchone()
        for name, count, color in (
            ("rows in SQLite", in_table, "cyan"), (f"records in {TOPIC}", in_topic, "yellow"),
            (f"rows in {len(self._files())} Parquet files", in_files, "green"),
        ):  # fmt: skip
            bar = Text("█" * round(40 * count / self._orders), color)
            table.add_row(Text(name), Text(f"{count:,}", justify="right"), bar)
        return Group(table, overview(connect_snapshot(rest)))

    def _files(self) -> list[Path]:
        return sorted((self._lake / "topics").rglob("*.parquet"))

    def _verify(self) -> None:
        """Raises KafkaError if the files have not exactly the rows of the shop."""
        import pyarrow.parquet as pq

        with contextlib.closing(sqlite3.connect(self._shop)) as shop:
            sold: list[Row] = shop.execute("SELECT id, country, what, price FROM orders ORDER BY id").fetchall()
        rows = pq.read_table(self._lake / "topics" / TOPIC).to_pylist()
        if sorted((row["id"], row["country"], row["what"], row["price"]) for row in rows) != sold:
            raise KafkaError(f"the files have {len(rows)} rows that are not the {len(sold)} of the shop")
        text = Text.assemble(
            ("✓ ", "bold green"), f"Each of the {len(sold):,} orders is in one Parquet file, once.\n",
            f"Read them: pandas.read_parquet('{self._lake}/topics/{TOPIC}')\n",
            "Write connectors of your own: docs/connect.md",
        )  # fmt: skip
        self._console.print(Panel(text, border_style="green"))


def _until(wanted: int, count: Any, selling: threading.Thread) -> Iterator[int]:
    """The counts, several times a second, until there are enough of them."""
    deadline_s = None
    while True:
        found = count()
        yield found
        if found >= wanted:
            return
        if deadline_s is None and not selling.is_alive():
            deadline_s = time.monotonic() + PATIENCE_S
        if deadline_s is not None and time.monotonic() > deadline_s:
            raise KafkaError(f"only {found} of {wanted} orders have come into files: see connect.log")
        time.sleep(0.25)


def _rows_in(file: Path) -> int:
    import pyarrow.parquet as pq

    return int(pq.read_metadata(file).num_rows)


_INTRODUCTION = (
    "A shop writes orders into a table of SQLite. Two connectors, in one worker, copy each of them: SqlSource from the "
    "table into a topic, ParquetSink from the topic into files, a folder for each country."
)


def main() -> int:
    """Run the demo; returns 0, or 1 after a failure. Ctrl-C ends the process with exit code 130."""
    parser = argparse.ArgumentParser(prog="make connect", description=_INTRODUCTION)
    parser.add_argument("--orders", type=int, default=400, metavar="N", help="how many orders are sold (default: 400)")
    parser.add_argument("--rate", type=float, default=25, metavar="N", help="orders per second (default: 25)")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    StopSignals(lambda: console.print("\n[yellow]Stopped.[/] Nothing is left running.")).install()
    return run_demo(console, ConnectDemo(console, FOLDER, options.orders, options.rate).run, extra="connect")


if __name__ == "__main__":
    sys.exit(main())
