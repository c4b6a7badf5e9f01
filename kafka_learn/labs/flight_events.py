"""Flights for the labs on streams: events by hand, as the jobs get them; publishes events of the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.clients import TIMEOUT_S, create_topic

SCHEMA = (
    "event_id string, event_time timestamp, time_hour timestamp, hour int, minute int, carrier string, flight int, "
    "tailnum string, origin string, dest string, dep_delay int"
)
"""The columns of the flights; real events have more."""

DAY = datetime(2013, 7, 1, tzinfo=UTC)
_LOCAL = timedelta(hours=-4)


def clock(text: str) -> datetime:
    """The time ``"10:30"`` of the labs' day, or ``"10:30:15.5"``, in UTC; ``"26:00"`` is at two on the next day."""
    hours, minutes, *seconds = text.split(":")
    return DAY + timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds[0]) if seconds else 0.0)


def flight(
    at: str, origin: str = "EWR", dep_delay: int | None = 0, number: int = 1, tailnum: str | None = "N1", **more: Any
) -> dict[str, Any]:
    """The event of a flight that is scheduled at this time of the labs' day; New York is four hours behind UTC.

    Its id consists of airport, number and time: two events are doubles if they agree in these.
    """
    time = clock(at)
    hour = time.replace(minute=0, second=0, microsecond=0)
    return {
        "event_id": f"{origin}{number}/{at}", "event_time": time, "time_hour": hour, "hour": (hour + _LOCAL).hour,
        "minute": time.minute, "carrier": "UA", "flight": number, "tailnum": tailnum, "origin": origin, "dest": "ORD",
        "dep_delay": dep_delay, **more,
    }  # fmt: skip


class Event(Protocol):
    """A record to publish: an ``Event`` of the pipeline, which this package does not import."""

    topic: str
    key: str
    value: str | bytes
    timestamp_ms: int
    headers: list[tuple[str, bytes]]


def create_topics(broker: LabBroker, partitions: Mapping[str, int]) -> None:
    """Create topics with these numbers of partitions."""
    for topic, number in partitions.items():
        create_topic(broker, topic, number)


def publish_events(broker: LabBroker, events: Iterable[Event]) -> None:
    """Publish events in their order with confluent-kafka, and wait for the acks."""
    from confluent_kafka import Producer

    failed: list[object] = []
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random", "linger.ms": 20}
    )
    for event in events:
        producer.produce(
            event.topic, key=event.key, value=event.value, timestamp=event.timestamp_ms, headers=dict(event.headers),
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )  # fmt: skip
        producer.poll(0)
    waiting = producer.flush(TIMEOUT_S)
    assert not failed, f"the broker refused events: {failed[0]}\n{broker.log_tail()}"
    assert waiting == 0, f"the broker has not acknowledged {waiting} events\n{broker.log_tail()}"
