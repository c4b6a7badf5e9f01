"""Recorded runs: saved, filtered, compared."""

import pytest

from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun, matches
from tests.support.recorded_runs import small_run


def test_a_run_is_saved_and_loaded(tmp_path):
    run = small_run()
    path = tmp_path / "chapter" / "run.jsonl"
    run.save(path)
    assert RecordedRun.load(path) == run
    assert path.read_text(encoding="utf-8").count("\n") == len(run) + 1


@pytest.mark.parametrize("content", ["", "[]\n", '{"format": 2}\n', '{"format": 1, "title": ""}\n', "no json\n"])
def test_a_malformed_file_is_rejected(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"run.jsonl is not a recorded run"):
        RecordedRun.load(path)


def test_an_unknown_kind_of_event_is_rejected(tmp_path):
    path = tmp_path / "run.jsonl"
    small_run().save(path)
    path.write_text(path.read_text(encoding="utf-8").replace('"kind": "file"', '"kind": "fire"'), encoding="utf-8")
    with pytest.raises(ValueError, match="fire"):
        RecordedRun.load(path)


def test_calls_have_their_depth_and_duration():
    spans = {span.begin.what: span for span in small_run().calls()}
    assert [(name, span.depth) for name, span in spans.items()] == [("handle", 0), ("append", 1), ("check", 2)]
    assert spans["append"].duration_ns == 400


def test_a_hand_over_waits_from_put_to_take():
    pairs = {pair.put.what: pair for pair in small_run().hand_overs()}
    assert pairs["queue"].waited_ns == 100
    assert pairs["request"].put.thread == "producer"
    assert pairs["request"].take.thread == "kafka-network-thread-0-PLAINTEXT-1"


def test_a_thread_has_a_turn_per_request_and_a_client_has_one_turn():
    run = small_run()
    turns = [(turn.thread, turn.first, turn.last) for turn in run.turns()]
    assert turns == [
        ("producer", 0, 12),
        ("kafka-network-thread-0-PLAINTEXT-1", 1, 2),
        ("kafka-request-handler-3", 3, 11),
    ]


def test_events_are_selected_by_name():
    event = Event(0, "kafka-request-handler-3", Kind.CALL, "Log", "append")
    for name in ("Log", "Log.append", ".append", "call", "kafka-request-handler-3", "kafka-request-handler"):
        assert matches(event, name), name
    for name in ("Lo", "Log.read", ".read", "return", "kafka-network-thread"):
        assert not matches(event, name), name
    run = small_run()
    assert [event.what for event in run.only("Log")] == ["append", "check", "check", "append"]
    assert len(run.without("Log")) == len(run) - 4


def test_all_recordings_of_a_run_have_the_same_structure():
    run = small_run()
    assert run.structure() == small_run(delay_ns=10_000, handler=7).structure()
    assert run.structure()["hand-overs"] == [
        "queue: kafka-network-thread-PLAINTEXT → kafka-request-handler",
        "request: producer → kafka-network-thread-PLAINTEXT",
        "response: kafka-request-handler → producer",
    ]
    assert run.structure() != run.without("Log.check").structure()
