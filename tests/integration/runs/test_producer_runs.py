"""The runs discussed in the chapter on the producer show what it says about them."""

import itertools
from collections.abc import Callable

import pytest

from chapters.ch02_producer.figures import connection_runs, producer_figures, producer_runs
from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.client_watches import FILLING, FULL, IN_FLIGHT, watch_batches
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_lite.network.selector import Selector
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord


def calls(run: RecordedRun, name: str) -> list[Event]:
    """Calls of ``Object.method``, in order."""
    return [event for event in run if event.kind is Kind.CALL and f"{event.who}.{event.what}" == name]


def appended(run: RecordedRun) -> list[str]:
    """The values that the broker appended, in the order of offsets."""
    ended = {span.begin.number: span.end for span in run.calls()}
    took = (event for event in calls(run, "Log.append_as_leader") if "error" not in ended[event.number].detail)
    return [event.detail["values"].partition(" (")[0] for event in took]


def changes(run: RecordedRun, who: str, what: str | None = None) -> list[tuple[object, object]]:
    """Before and after of each state change."""
    return [
        (event.detail["before"], event.detail["after"])
        for event in run
        if event.kind is Kind.STATE and event.who == who and what in (None, event.what)
    ]


@pytest.fixture(scope="module")
def filling() -> RecordedRun:
    return producer_runs.filling_and_draining()


@pytest.fixture(scope="module")
def polls() -> RecordedRun:
    return connection_runs.polls()


# -- the wire of a client with a selector ------------------------------------------------------------------------------


def test_a_record_goes_from_the_caller_to_the_sender_to_the_broker_and_back():
    run = producer_runs.one_record()
    roles = {
        pair.put.what: (run.actors[pair.put.thread], run.actors[pair.take.thread] if pair.take else "nobody")
        for pair in run.hand_overs()
    }
    assert roles == {
        "batch": ("caller", "Sender"),
        "request": ("Sender", "Processor"),
        "response": ("Processor", "Sender"),
    }
    response = next(event for event in run if (event.kind, event.what) == (Kind.TAKE, "response"))
    assert response.detail["thing"] == "ProduceResponse"
    assert response.detail["base_offset"] == 1
    [get] = [span for span in run.calls() if span.begin.what == "get"]
    events = list(run)
    assert events.index(get.end) > events.index(response), "the caller waits for the response"


def test_the_first_send_makes_two_connections_and_waits_for_metadata():
    run = connection_runs.first_contact()
    pairs = run.hand_overs()
    assert [pair.put.what for pair in pairs].count("connection") == 2, "the bootstrap address, then the node"
    requests = [pair for pair in pairs if pair.put.what == "request"]
    asked = [pair.put.detail["thing"].split()[0] for pair in requests]
    assert asked[0] == "API_VERSIONS"
    assert {"METADATA", "INIT_PRODUCER_ID"} <= set(asked[: asked.index("PRODUCE")])
    # Requests that the producer sends beside the record may be in flight when the recording ends.
    assert all(pair.take is not None for pair in pairs[: pairs.index(requests[asked.index("PRODUCE")]) + 1])
    for node in ("node -1", "node 0"):
        after = [new for _, new in changes(run, "ClusterConnectionStates", node)]
        assert after[:3] == ["CONNECTING", "CHECKING_API_VERSIONS", "READY"]


def test_a_refused_connection_is_taken_by_no_thread():
    selector = Selector()
    with Recording(watch_wire()) as recording, pytest.raises(OSError, match=r"."):
        selector.connect("node", "256.0.0.1", 1)
    selector.close()
    assert [pair.take for pair in recording.run.hand_overs()] == [None]


# -- batches and memory ------------------------------------------------------------------------------------------------


def test_memory_is_bounded_and_send_waits_for_it(filling):
    available = [event.detail for event in filling if event.who == "BufferPool" and event.kind is Kind.STATE]
    assert min(detail["after"] for detail in available) == 0
    assert all(0 <= detail["after"] <= detail["total"] for detail in available)
    waits = [span for span in filling.calls() if span.begin.what == "allocate" and span.duration_ns > 5e6]
    assert len(waits) >= 1
    lost = [event for event in filling if event.who == "ProducerBatch" and event.detail["after"] == "ABORTED"]
    assert lost == []
    sent = [event for event in filling if event.who == "ProducerBatch" and event.detail["after"] == "SUCCEEDED"]
    assert sum(event.detail["records"] for event in sent) == producer_runs.RECORDS


def test_a_full_batch_is_drained_together_with_partly_filled_ones(filling):
    drained = [before for before, after in changes(filling, "ProducerBatch") if after == IN_FLIGHT]
    assert FULL in drained
    assert FILLING in drained


def test_the_figures_show_every_batch_and_every_request(filling):
    figure = producer_figures.batch_lives(filling)
    assert [lane.label for lane in figure.lanes] == ["demo-0", "demo-1", "demo-2", "buffers of the pool", "send waits"]
    memory = figure.lanes[3]
    assert memory.depth == producer_runs.ROOM_FOR_BATCHES
    assert figure.svg().startswith("<svg")
    assert "在途" in producer_figures.batch_lives(filling, "zh").svg()


# -- order and duplicates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (producer_runs.reordered, ["B", "C", "A"]),
        (producer_runs.one_in_flight, ["A", "B, C"]),
        (producer_runs.kept_in_order, ["A", "B"]),
        (producer_runs.duplicate, ["A", "A"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_final_contents_of_the_log(record: Callable[[], RecordedRun], expected):
    run = record()
    assert appended(run) == expected
    refused = [event for event in calls(run, "Sender._complete_batch") if event.detail["outcome"] != "NONE"]
    assert refused


def test_the_broker_detects_a_duplicate_by_its_sequence_number():
    run = producer_runs.removed_duplicate()
    found = [span.end.detail for span in run.calls() if span.begin.what == "find_duplicate_batch"]
    assert ["result" in detail for detail in found] == [False, True]
    assert [event.detail["values"] for event in calls(run, "Log.append_as_leader")] == ["A (sequence 1)"] * 2
    offsets = [
        event.detail["base_offset"] for event in run if event.what == "response" and "base_offset" in event.detail
    ]
    assert offsets == [1]


# -- requests in flight, polls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "most"), [(connection_runs.five_in_flight, 5), (connection_runs.one_in_flight_request, 1)]
)
def test_the_number_of_requests_in_flight_is_limited(record, most):
    run = record()
    counts = [after for _, after in changes(run, "InFlightRequests", "node 0")]
    assert max(counts) == most
    assert counts[-1] == 0
    [lane] = producer_figures.requests_in_flight(run).lanes
    assert lane.depth == most
    assert len(lane.spans) >= connection_runs.REQUESTS


def test_interest_in_writing_lasts_until_everything_is_written(polls):
    interest = [after for _, after in changes(polls, "KafkaChannel", "interest")]
    assert interest == ["WRITE", "none", "READ", "READ | WRITE", "READ", "none", "READ"]
    sizes = changes(polls, "KafkaChannel", "bytes to send")
    assert sizes[0][0] == connection_runs.LARGE_FRAME_BYTES + 4
    assert sizes[-1][1] == 0
    assert len(sizes) > 1, "one write does not send everything"
    assert all(now[0] == was[1] for was, now in itertools.pairwise(sizes))


def test_frames_arrive_in_pieces_and_leave_one_per_poll(polls):
    received = [after for _, after in changes(polls, "KafkaChannel", "receive")]
    assert received == ["2 of 4 bytes of a size", "60 of 100 bytes", "2 complete", "1 complete"]
    notes = [event.what for event in polls if event.kind is Kind.NOTE and event.who == "Selector"]
    assert notes == ["→ 1 connected", "→ 1 sent", *["→ 1 received"] * 3]


# -- helpers of the runs -----------------------------------------------------------------------------------------------


def test_records_without_a_key_fill_one_batch_after_the_other():
    configs = {"batch.size": 2_000, "linger.ms": 60_000, "delivery.timeout.ms": 120_000}
    with (
        Recording(watch_batches(), paused=True) as recording,
        producer_runs.running_cluster(partitions=4) as cluster,
        KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, **configs}) as producer,
        recording.running(),
    ):
        for _ in range(60):
            producer.send(ProducerRecord(producer_runs.TOPIC, bytes(100)))
        producer.flush()
    sizes = [event.detail["records"] for event in recording.run if event.detail.get("after") == "SUCCEEDED"]
    assert sorted(sizes) == [9, 17, 17, 17], "three full batches and the rest"
