"""Figures of a producer: which rows they have, for runs and accumulators made by hand."""

import html
import re
from dataclasses import replace

from chapters.ch02_producer.figures.producer_figures import batch_lives, draw_accumulator, requests_in_flight
from kafka_learn.recording.client_watches import interest_word, watch_batches, watch_in_flight, watch_memory
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.clients.client_request import ClientRequest, RequestBuilder
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.nio_selector import READ, WRITE
from kafka_lite.network.send import NetworkSend
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.record.compression import CompressionType

PARTITIONS = [TopicPartition("t", number) for number in range(2)]


def new_accumulator() -> RecordAccumulator:
    """Space for four batches of 300 bytes; linger is 0."""
    time = MockTime()
    return RecordAccumulator(300, CompressionType.NONE, 0, 100, 10_000, BufferPool(1_200, 300, time), time=time)


def append(accumulator: RecordAccumulator, partition: int, count: int) -> None:
    for _ in range(count):
        accumulator.append(PARTITIONS[partition], (0, None, bytes(60), (), None), 0)


def words(svg: str) -> list[str]:
    return [html.unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def state(time_ns: int, who: str, what: str, before: object, after: object, **detail: object) -> Event:
    return Event(time_ns, "t", Kind.STATE, who, what, 0, 0, "t-0", {"before": before, "after": after, **detail})


def test_an_accumulator_is_drawn_batch_by_batch():
    accumulator = new_accumulator()
    append(accumulator, 0, 5)
    append(accumulator, 1, 1)
    shown = words(draw_accumulator(accumulator).svg())
    assert shown.index("t-0") < shown.index("t-1") < shown.index("BufferPool")
    assert [text for text in shown if "record" in text] == ["3 records", "2 records", "1 record"]
    assert "free: 300 of 1200 bytes, 0 wait" in shown


def test_batches_and_their_memory_are_watched_from_the_first_record_to_the_end():
    accumulator = new_accumulator()
    watches = [*watch_batches(), *watch_memory(), *watch(BufferPool.allocate, show=("size",))]
    with Recording(watches) as recording:
        append(accumulator, 0, 4)
        first, second = accumulator.take_undrained()
        for batch in (first, second):
            batch.complete(0, -1)
            accumulator.deallocate(batch)
    changes = [(event.what, event.detail["after"]) for event in recording.run if event.who == "ProducerBatch"]
    assert changes == [
        ("t-0 #1", "FILLING"),
        ("t-0 #1", "FULL"),
        ("t-0 #2", "FILLING"),
        ("t-0 #1", "SUCCEEDED"),
        ("t-0 #2", "SUCCEEDED"),
    ]
    memory = [
        event.detail["after"] for event in recording.run if event.who == "BufferPool" and event.kind is Kind.STATE
    ]
    assert memory == [900, 600, 900, 1200]
    for step_ns, waits in ((1_000, False), (2_000_000, True)):
        steps = [replace(event, time_ns=step_ns * number) for number, event in enumerate(recording.run)]
        figure = batch_lives(RecordedRun(tuple(steps)))
        assert [lane.label for lane in figure.lanes] == ["t-0", "buffers of the pool", "send waits"]
        assert [lane.depth for lane in figure.lanes] == [2, 2, 1]
        assert bool(figure.lanes[2].spans) == waits, "a thread waits if its memory takes over a millisecond"


def test_a_batch_that_is_sent_twice_stays_in_its_row():
    changes = [
        (0, "#1", None, "FILLING"),
        (10, "#1", "FILLING", "IN FLIGHT"),
        (15, "#2", None, "FILLING"),
        (20, "#1", "IN FLIGHT", "RETRY"),
        (30, "#1", "RETRY", "IN FLIGHT"),
        (40, "#1", "IN FLIGHT", "SUCCEEDED"),
        (50, "#3", None, "FILLING"),
    ]
    events = [state(at, "ProducerBatch", f"t-0 {name}", was, now, records=2) for at, name, was, now in changes]
    [lane] = batch_lives(RecordedRun(tuple(events))).lanes
    rows = {(span.label, span.depth) for span in lane.spans}
    assert rows == {("#1", 0), ("#1: 2", 0), ("#2", 1), ("#3", 0)}


def test_a_request_takes_the_first_free_row_of_those_in_flight():
    counts = [(0, 1, 0, 1), (10, 2, 1, 2), (20, 1, 2, 1), (30, 3, 1, 2), (40, 2, 2, 1), (50, 3, 1, 0)]
    events = [
        state(at, "InFlightRequests", "node 0", was, now, correlation_id=number) for at, number, was, now in counts
    ]
    [lane] = requests_in_flight(RecordedRun(tuple(events)), "zh").lanes
    assert lane.label == "在途请求"
    assert {(span.label, span.start_ns, span.end_ns, span.depth) for span in lane.spans} == {
        ("#1", 0, 20, 0),
        ("#2", 10, 40, 1),
        ("#3", 30, 50, 0),
    }


def test_interest_sets_as_text():
    assert [interest_word(bits) for bits in (0, READ, WRITE, READ | WRITE)] == ["none", "READ", "WRITE", "READ | WRITE"]


def test_a_disconnect_ends_its_requests_one_after_the_other():
    requests = InFlightRequests(5)
    with Recording(watch_in_flight()) as recording:
        for number in (1, 2):
            request = ClientRequest("0", RequestBuilder.of(MetadataRequest()), number, "me", created_time_ms=0)
            requests.add(InFlightRequest(request, 1, NetworkSend("0", [b"x"]), send_time_ms=0))
        requests.clear_all("0")
    seen = [(event.detail["correlation_id"], event.detail["before"], event.detail["after"]) for event in recording.run]
    assert seen == [(1, 0, 1), (2, 1, 2), (1, 2, 1), (2, 1, 0)]
