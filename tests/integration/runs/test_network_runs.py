"""The runs discussed in the chapter on the network layer show what it says about them."""

import pytest

from chapters.ch02_producer.figures import network_runs
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.recorded_run import Kind, RecordedRun

MOST_STEPS = 40


def names(run: RecordedRun, *kinds: Kind) -> list[str]:
    """What happened, as ``Object.what``, of the given kinds."""
    return [f"{event.who}.{event.what}" for event in run if event.kind in kinds]


@pytest.fixture(scope="module")
def full() -> RecordedRun:
    return network_runs.full_request_queue()


def test_a_processor_mutes_a_connection_from_its_request_to_its_response():
    happened = names(network_runs.turns_of_a_processor(), Kind.CALL, Kind.PUT, Kind.TAKE)
    order = [
        "KafkaChannel.mute",
        "RequestChannel.request queue",
        "RequestChannel.response queue",
        "Selector.write",
        "KafkaChannel.unmute",
    ]
    assert [happened.index(name) for name in order] == sorted(happened.index(name) for name in order)
    assert happened.index("Processor.new connection") < happened.index("Selector.register")


def test_pipelined_requests_are_handled_one_after_the_other_and_mute_the_connection_once():
    run = network_runs.pipelined_requests()
    steps = [name for name in names(run, Kind.CALL, Kind.PUT) if name.endswith((".handle", ".response queue"))]
    assert steps == ["KafkaApis.handle", "RequestChannel.response queue"] * network_runs.PIPELINED
    responses = [event.detail["base_offset"] for event in run if (event.kind, event.what) == (Kind.TAKE, "response")]
    assert responses == [1, 2, 3]
    calls = names(run, Kind.CALL)
    assert calls.count("KafkaChannel.mute") == calls.count("KafkaChannel.unmute") == 1


def test_a_full_queue_blocks_the_network_thread_even_if_responses_are_ready(full):
    begin = next(event for event in full if event.kind is Kind.CALL and event.what == "_wait_for_room")
    end = next(event for event in full if (event.kind, event.number) == (Kind.RETURN, begin.number))
    events = list(full)
    meanwhile = events[events.index(begin) + 1 : events.index(end)]
    assert begin.thread not in {event.thread for event in meanwhile}
    assert "RequestChannel.response queue" in names(full, Kind.PUT)
    taken = next(event for event in full if (event.kind, event.what) == (Kind.TAKE, "response queue"))
    assert events.index(taken) > events.index(end)


def test_the_full_queue_loses_no_request(full):
    responses = [event.detail["base_offset"] for event in full if (event.kind, event.what) == (Kind.TAKE, "response")]
    assert sorted(responses) == [1, 2, 3, 4]


@pytest.mark.parametrize("run", network_runs.RUNS.values(), ids=network_runs.RUNS)
def test_each_figure_is_small_enough_to_read(run):
    assert 10 < len(sequence_diagram(run()).layout.steps) <= MOST_STEPS
