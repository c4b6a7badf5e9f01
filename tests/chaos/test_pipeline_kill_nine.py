"""kill -9 of the pipeline's driver, of an executor, of a Python worker and of the broker, at chosen points of a batch.

Whatever dies, the tables equal those of a run without any death, and those of pandas; topics have doubles, which their
ids show.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from confluent_kafka import Consumer, TopicPartition

from kafka_lite.server.broker_process import BrokerProcess
from pipeline import reference
from pipeline.events import DEAD_LETTERS, DELAYS, EVENT_ID, FLIGHTS, WEATHER, Event, encode, event_times
from pipeline.nycflights import load_flights, load_weather
from pipeline.reference import KEYS, differences
from pipeline.sinks import read_table
from pipeline.topics import EventProducer, create_topics
from tests.support.eventually import eventually
from tests.support.patient_clients import next_message
from tests.support.pipeline_process import FAILED, Death, PipelineProcess, Settings

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.nightly, pytest.mark.timeout(900)]

BEGIN, END = pd.Timestamp("2013-07-01T04:00Z"), pd.Timestamp("2013-07-02T04:00Z")
CLOCK = "2013-07-10T00:00Z"
LATE, DOUBLED, GARBAGE = 0.05, 0.03, 25
LATE_BY = pd.Timedelta(minutes=90)
TABLES = ("flights", "delays", "flights_with_weather", "aircraft_days")


@dataclass(frozen=True)
class Data:
    """A day of the data set, what pandas makes of them, and the records in the order in which they are sent."""

    events: list[Event]
    expected: dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def data() -> Data:
    flights, weather = (
        table[event_times(source, table).between(BEGIN, END, inclusive="left")].reset_index(drop=True)
        for source, table in ((FLIGHTS, load_flights()), (WEATHER, load_weather()))
    )
    expected = {
        "flights": reference.distinct_flights(flights),
        "delays": reference.delays_by_window(flights),
        "flights_with_weather": reference.flights_with_weather(flights, weather),
        "aircraft_days": reference.aircraft_days(flights),
    }
    return Data(disturbed([*encode(FLIGHTS, flights), *encode(WEATHER, weather)], random.Random(12)), expected)


def disturbed(events: list[Event], rng: random.Random) -> list[Event]:
    """In order of event time, but for some that are late; some twice, and some broken ones in between."""
    late_by_ms = int(LATE_BY.total_seconds() * 1000)

    def due(event: Event) -> int:
        return event.timestamp_ms + (rng.randrange(late_by_ms) if rng.random() < LATE else 0)

    sent = [(due(event), event) for event in events]
    sent += [(due(event), event) for event in rng.sample(events, int(DOUBLED * len(events)))]
    sent += [(event.timestamp_ms, event._replace(value=b"\xff?")) for event in rng.sample(events, GARBAGE)]
    return [event for _, event in sorted(sent, key=lambda each: each[0])]


class Run:
    """A broker with the data in its topics, and the pipeline's processes that work on it, one after the other."""

    def __init__(self, folder: Path, data: Data) -> None:
        self.folder = folder
        self.data = data
        self.broker = BrokerProcess(folder)
        self._process: PipelineProcess | None = None

    def __enter__(self) -> Run:
        self.broker.start()
        create_topics(self.broker.bootstrap_servers)
        with EventProducer(self.broker.bootstrap_servers) as producer:
            for event in self.data.events:
                producer.send(event)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
        self.broker.stop()

    def start(self, death: Death | None = None, **settings: object) -> PipelineProcess:
        self._process = PipelineProcess(
            Settings(self.broker.bootstrap_servers, str(self.folder / "run"), CLOCK, death=death, **settings)  # type: ignore[arg-type]
        )
        return self._process

    def end(self, death: Death | None = None, **settings: object) -> None:
        """Run the pipeline to its end, and check that it died if it was to."""
        process = self.start(death, **settings)
        code = process.wait()
        dies = death is not None and death.victim == "driver"
        assert code == (-signal.SIGKILL if dies else 0), process.output.read_text()[-4000:]
        assert death is None or self.mark(death).exists(), "the batch of the death never came"

    def mark(self, death: Death) -> Path:
        return self.folder / "run" / f"died-{death.victim}-{death.point}"

    def table(self, job: str) -> pd.DataFrame:
        return read_table(self.folder / "run" / "tables" / job)

    def ids(self, topic: str) -> list[str]:
        """The event ids of all records of a topic."""
        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap_servers, "group.id": "test"})
        found = []
        for number in consumer.list_topics(topic).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, number))
            consumer.assign([TopicPartition(topic, number, 0)])
            for _ in range(end):
                message = next_message(consumer, f"{len(found)} of {topic}")
                assert message.error() is None
                found.append(dict(reversed(message.headers()))[EVENT_ID].decode())
        consumer.close()
        return found

    def assert_equal_to(self, undisturbed: dict[str, pd.DataFrame], *jobs: str) -> None:
        for job in jobs or TABLES:
            assert differences(self.table(job), self.data.expected[job], KEYS[job]) == [], f"{job} differs from pandas"
            assert differences(self.table(job), undisturbed[job].drop(columns="batch"), KEYS[job]) == []


@pytest.fixture(scope="module")
def undisturbed(data: Data, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    with Run(tmp_path_factory.mktemp("undisturbed"), data) as run:
        run.end()
        tables = {job: run.table(job) for job in TABLES}
        run.assert_equal_to(tables)
        assert len(run.ids(DELAYS)) == len(data.expected["delays"])
        assert len(run.ids(DEAD_LETTERS)) == GARBAGE
        assert tables["flights"]["batch"].nunique() > 2
    return tables


@pytest.fixture
def run(data: Data, tmp_path: Path) -> Iterator[Run]:
    with Run(tmp_path, data) as run:
        yield run


Undisturbed = dict[str, pd.DataFrame]


def test_a_batch_is_in_the_table_once_after_a_kill_of_the_driver_at_each_of_its_points(
    run: Run, undisturbed: Undisturbed
) -> None:
    """The first death takes the queries of all jobs with it; the last start runs them all to their end."""
    batch = first_batch(undisturbed["delays"])
    run.end(Death("driver", "delays", batch, "reading"))
    for point in ("written", "committed", "published"):
        run.end(Death("driver", "delays", batch, point), jobs=["delays"])
    run.end()
    run.assert_equal_to(undisturbed)
    assert len(set(run.ids(DEAD_LETTERS))) == GARBAGE
    ids = run.ids(DELAYS)
    assert len(set(ids)) == len(undisturbed["delays"])
    published_twice = (undisturbed["delays"]["batch"] == batch).sum()
    assert len(ids) - len(set(ids)) == published_twice > 0


def test_a_python_worker_killed_in_a_batch_is_replaced(run: Run, undisturbed: Undisturbed) -> None:
    run.end(Death("worker", "flights", 1, "reading"), master="local[2,4]", jobs=["flights"])
    assert not (run.folder / "run" / FAILED).exists()
    run.assert_equal_to(undisturbed, "flights")


def test_state_moves_to_another_executor_if_one_is_killed_while_timers_close_days(
    run: Run, undisturbed: Undisturbed
) -> None:
    batch = first_batch(undisturbed["aircraft_days"])
    death = Death("executor", "aircraft_days", batch, "reading")
    run.end(death, master="local-cluster[2,1,1024]", state_partitions=2, jobs=["aircraft_days"])
    assert not (run.folder / "run" / FAILED).exists()
    run.assert_equal_to(undisturbed, "aircraft_days")


def test_queries_that_failed_without_the_broker_go_on_when_it_is_back(run: Run, undisturbed: Undisturbed) -> None:
    death = Death("broker", "delays", 1, "reading")
    impatient = {"kafkaConsumer.pollTimeoutMs": "3000"}
    process = run.start(death, jobs=["delays", "flights"], source_options=impatient)
    eventually(run.mark(death).exists, "the batch in which the broker is killed", 300)
    run.broker.kill()
    (run.folder / "run" / "broker-is-dead").touch()
    eventually((run.folder / "run" / FAILED).exists, "a query that fails without the broker", 300)
    run.broker.start()
    assert process.wait() == 0, process.output.read_text()[-4000:]
    run.assert_equal_to(undisturbed, "delays", "flights")


def first_batch(table: pd.DataFrame) -> int:
    """The number of the first batch with rows."""
    return int(table["batch"].min())
