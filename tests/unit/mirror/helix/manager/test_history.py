"""Histories are those of a real Helix, and do not grow for ever."""

from kafka_lite.mirror.helix.manager.history import LIMIT, controller_history, participant_history
from tests.support.helix_samples import record

STEP = "participants w1, w2 start"


def test_the_entry_of_a_leader_is_a_real_ones() -> None:
    real = record(STEP, "CONTROLLER/HISTORY")
    assert controller_history(None, "testMirrorMaker", "controller1", 1795822358319) == real


def test_the_entry_of_a_session_is_a_real_ones() -> None:
    real = record(STEP, "w2/HISTORY")
    assert participant_history(None, "w2", "1a21f5a7d790003", 1795822361404) == real


def test_the_oldest_entries_go() -> None:
    history = None
    for number in range(LIMIT + 3):
        history = controller_history(history, "C", f"c{number}", number)
    assert history is not None
    assert history.list_fields["C"] == [f"c{number}" for number in range(3, LIMIT + 3)]
    assert len(history.list_fields["HISTORY"]) == LIMIT
