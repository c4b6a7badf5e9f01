"""Runs and films of replicas show what the chapter on replication says about them."""

from chapters.ch06_storage.figures import replica_drawings, replica_runs
from chapters.ch06_storage.figures.replica_drawings import BOOKS_KAFKA, film, played
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.replicas_by_hand import PARKED, Frame, ReplicasByHand


def changes(run: RecordedRun, who: str, what: str) -> list[tuple[object, object]]:
    found = [event for event in run if (event.kind, event.who, event.what) == (Kind.STATE, who, what)]
    return [(event.detail["before"], event.detail["after"]) for event in found]


def values(frame: Frame, broker_id: int) -> str:
    return "".join(value for value, _ in frame.views[broker_id].values)


def test_the_second_round_of_fetches_commits_the_record() -> None:
    run = replica_runs.two_fetch_rounds()
    for broker_id in (1, 2, 3):
        assert changes(run, f"broker {broker_id}", "LEO") == [(0, 1)]
        assert changes(run, f"broker {broker_id}", "HW") == [(0, 1)]
    committed = next(i for i, event in enumerate(run) if (event.who, event.what) == ("broker 1", "HW"))
    assert sum(event.what == "Fetch" and event.kind is Kind.TAKE for event in run.events[:committed]) == 4
    assert run.events[-1].who == "broker 2", "the last one to learn of it"


def test_the_isr_shrinks_in_zookeeper_before_the_record_is_committed() -> None:
    run = replica_runs.isr_shrinks_and_expands()
    assert changes(run, "broker 1", "ISR") == [("1 2 3", "1 2"), ("1 2", "1 2 3")]
    order = [(event.who, event.what) for event in run if event.what.startswith(("set ", "ISR", "HW"))]
    assert order[0][0] == "broker 1"
    assert order[2:4] == [("broker 1", "ISR"), ("broker 1", "HW")]


def test_truncation_to_the_high_watermark_loses_a_committed_record_and_truncation_by_epoch_does_not() -> None:
    scene = replica_drawings.restart_before_the_second_round
    for protocol, left in ((BOOKS_KAFKA, "a"), ("", "ab")):
        frames = played(scene, protocol)
        committed = frames[6]
        assert committed.views[1].high_watermark == 2
        assert [values(committed, broker_id) for broker_id in (1, 2, 3)] == ["ab"] * 3
        assert [values(frames[-1], broker_id) for broker_id in (2, 3)] == [left] * 2


def test_the_example_of_the_slides_ends_with_three_equal_logs_in_sync() -> None:
    frames = played(replica_drawings.isr_example)
    assert values(frames[5], 1) == "abcx"
    assert [values(frames[-1], broker_id) for broker_id in (1, 2, 3)] == ["abcd"] * 3
    assert all(view.in_isr for view in frames[-1].views.values())


def test_a_film_says_its_steps_in_both_languages() -> None:
    frames = played(replica_drawings.isr_example)
    assert "broker 2 leads" in film(frames).svg()
    assert "broker 2 成为主副本" in film(frames, language="zh").svg()


def test_a_produce_request_by_hand_waits_for_the_fetches() -> None:
    with ReplicasByHand(min_insync_replicas=2) as replicas:
        replicas.lead(1)
        sent = replicas.produce("a")
        for follower in (2, 3, 2):
            replicas.fetch(follower)
            assert sent.response == PARKED
        assert replicas.consume() == []
        replicas.fetch(3)
        assert sent.response == "offset 0"
        assert replicas.consume() == ["a"]
        for follower in (2, 3):
            replicas.kill(follower)
        waiting = replicas.produce("b")
        replicas.advance(11)
        assert waiting.response == "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        assert replicas.produce("c").response == "NOT_ENOUGH_REPLICAS"
