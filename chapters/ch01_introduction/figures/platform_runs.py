"""A recorded run of one record and its readers: stored once, read by each at its own pace. Book 1.1."""

from __future__ import annotations

from collections.abc import Callable

from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import (
    connect,
    fetch_from,
    in_thread,
    open_connections,
    running_broker,
    send_record,
    wait_until,
)
from kafka_learn.recording.watches import watch
from kafka_lite.log.log import Log

SHOP, MAIL, SEARCH = "shop", "mail", "search"
CLIENTS = (SHOP, MAIL, SEARCH)
NEXT_DAY = "the next day, from the beginning"


def one_record_two_readers() -> RecordedRun:
    """A shop sends an order. Two programs read it, and one of them reads everything again on the next day."""
    watches = (
        watch_wire(),
        watch(Log.append_as_leader, show=("records",)),
        watch(Log.read, show=("start_offset",)),
    )
    title = "One record and two readers"
    with (
        Recording(*watches, title=title, paused=True) as recording,
        running_broker() as server,
        connect(server) as shop,
        connect(server) as mail,
        connect(server) as search,
    ):
        wait_until(lambda: open_connections(server) == len(CLIENTS))

        def read_again() -> None:
            recording.note(NEXT_DAY)
            fetch_from(search, 0)

        with recording.running():
            in_thread(SHOP, lambda: send_record(shop, b"an order"))
            in_thread(MAIL, lambda: fetch_from(mail, 1))
            in_thread(SEARCH, lambda: fetch_from(search, 1))
            in_thread(SEARCH, read_again)
    return recording.run.recorded_in(__name__, "one_record_two_readers", lanes=(*CLIENTS, "Processor", "Log"))


RUNS: dict[str, Callable[[], RecordedRun]] = {"one-record-two-readers": one_record_two_readers}
