"""A run that is recorded in a simulated world is the same wherever and whenever it is recorded."""

import pytest

from chapters.ch02_producer.figures import connection_runs
from chapters.ch07_controller.figures import controller_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.simulated_run import recorded_in_world

LEADER_DIES = f"{controller_runs.__name__}:leader_dies"


@pytest.fixture(scope="module")
def run() -> RecordedRun:
    return recorded_in_world(LEADER_DIES, seed=3)


def test_a_seed_records_the_same_bytes_wherever_objects_and_files_are(run, tmp_path):
    again = recorded_in_world(LEADER_DIES, seed=3, is_disturbed=True)
    assert again == run
    for name, each in (("run", run), ("again", again)):
        each.save(tmp_path / name)
    assert (tmp_path / "run").read_bytes() == (tmp_path / "again").read_bytes()


def test_another_seed_has_other_times_of_the_same_steps(run):
    other = recorded_in_world(LEADER_DIES, seed=4)
    assert [event.time_ns for event in other] != [event.time_ns for event in run]
    assert {event.what for event in other if event.kind is Kind.STATE} == {
        event.what for event in run if event.kind is Kind.STATE
    }


def test_three_brokers_elect_in_the_world_as_outside(run):
    what = [f"{event.who}: {event.what}" for event in run]
    steps = (
        "broker 2: dies",
        "broker 1: BrokerChange",
        "broker 3: leads demo-0, epoch 1",
        "broker 1: epoch 0 ends at 1",
    )
    assert [what.index(step) for step in steps] == sorted(what.index(step) for step in steps)
    told = [event for event in run if (event.kind, event.who, event.what) == (Kind.TAKE, "broker 3", "LeaderAndIsr")]
    assert len(told) == 2, "the page says so"


def test_a_frame_that_is_larger_than_the_buffers_of_a_socket_waits_for_its_reader():
    polls = recorded_in_world(f"{connection_runs.__name__}:polls", seed=1)
    notes = [event.what for event in polls if event.kind is Kind.NOTE]
    assert notes.index("the peer reads everything") < notes.index("the peer writes half a size")
    left = [event.detail["after"] for event in polls if event.what == "bytes to send"]
    assert 0 < left[0] < connection_runs.LARGE_FRAME_BYTES
    assert left[-1] == 0


def test_a_run_that_fails_says_why():
    with pytest.raises(ValueError, match=r"no_run has recorded nothing in the world of seed 3:(.|\n)*AttributeError"):
        recorded_in_world(f"{controller_runs.__name__}:no_run", seed=3)
