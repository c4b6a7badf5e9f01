"""A participant writes what a real one does, and leaves alone what it cannot read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import Transition
from kafka_lite.mirror.helix.participant.state_model import Action, StateMachineEngine, StateModel
from kafka_lite.mirror.helix.writes import Create
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.eventually import eventually
from tests.support.helix_samples import record as sample
from tests.support.helix_samples import writes
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper, helix_in_memory

JOINING = "participants w1, w2 start"


@pytest.fixture
def helix() -> Iterator[HelixOnZooKeeper]:
    with helix_in_memory() as cluster:
        yield cluster


def session_of(helix: HelixOnZooKeeper, name: str = "w1") -> str:
    return f"{helix.sessions[name].session_id:x}"


def a_message(
    helix: HelixOnZooKeeper,
    number: str = "m1",
    session: str = "",
    from_state: str = "OFFLINE",
    to_state: str = "ONLINE",
) -> Message:
    return Message.transition(
        *(number, 1000),
        source=("controller1", "1"),
        target=("w1", session or session_of(helix)),
        resource="t",
        partition="0",
        state_model="OnlineOffline",
        factory="DEFAULT",
        from_state=from_state,
        to_state=to_state,
    )


def send(helix: HelixOnZooKeeper, message: Message) -> None:
    """The message is there, and then gone."""
    path = PATHS.message("w1", message.id)
    helix.accessor.apply([Create(path, message.record)])
    eventually(lambda: helix.record(path) is None, path)


def state(helix: HelixOnZooKeeper) -> dict[str, str] | None:
    record = helix.record(PATHS.current_state("w1", session_of(helix), "t"))
    return None if record is None else dict(record.map_fields["0"])


def test_it_joins_as_a_real_participant_does(helix: HelixOnZooKeeper) -> None:
    tree = helix.accessor.zk.tree  # type: ignore[attr-defined]
    del tree.writes[:]
    helix.start_participant("w2")
    created = [
        path for kind, path, _ in writes(JOINING) if kind == "create" and "w2" in path and "MESSAGES/" not in path
    ]
    assert [each[2:] for each in tree.writes if each.startswith("+ ")] == created
    assert helix.record(PATHS.instance_config("w2")) == sample(JOINING, "PARTICIPANT/w2")
    live, real = helix.record(PATHS.live_instance("w2")), sample(JOINING, "LIVEINSTANCES/w2")
    assert live is not None
    assert live.simple_fields.keys() == real.simple_fields.keys()
    assert live.simple_fields["SESSION_ID"] == session_of(helix, "w2")
    assert live.simple_fields["HELIX_VERSION"] == real.simple_fields["HELIX_VERSION"]


def test_a_name_that_is_live_already_is_refused(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1")
    with pytest.raises(HelixError, match="w1 is live already"):
        helix.start_participant("w1", MockTime())


def test_a_successor_waits_for_the_end_of_the_session_before_it(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1")
    send(helix, a_message(helix))
    predecessor = helix.sessions["w1"]

    class EndsTheSession(MockTime):
        def sleep(self, ms: float) -> None:
            super().sleep(ms)
            predecessor.end_session()

    helix.start_participant("w1", EndsTheSession())
    assert state(helix) == {"CURRENT_STATE": "OFFLINE"}, "carried over in its initial state"


def test_a_transition_is_run_and_its_message_goes_last(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1")
    send(helix, a_message(helix))
    assert state(helix) == {"CURRENT_STATE": "ONLINE", "INFO": ""}
    send(helix, a_message(helix, "m2", from_state="ONLINE", to_state="OFFLINE"))
    send(helix, a_message(helix, "m3", to_state="DROPPED"))
    assert state(helix) is None


def test_messages_that_were_there_before_it_started_are_taken(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1").shutdown()
    path = PATHS.message("w1", "m1")
    helix.accessor.apply([Create(path, a_message(helix, session="ended").record)])
    helix.sessions["w1"].end_session()
    helix.start_participant("w1")
    eventually(lambda: helix.record(path) is None)
    assert state(helix) is None


def test_a_shutdown_says_whether_the_transition_that_runs_has_ended(helix: HelixOnZooKeeper) -> None:
    begun, may_end = threading.Event(), threading.Event()

    class Waiting(StateModel):
        def transitions(self) -> Mapping[Transition, Action]:
            return {("OFFLINE", "ONLINE"): self.wait}

        def wait(self, _message: Message) -> str | None:
            begun.set()
            may_end.wait()
            return None

    engine = StateMachineEngine()
    engine.register("OnlineOffline", lambda _resource, _partition: Waiting("OFFLINE"), "OFFLINE")
    participant = ParticipantManager(helix.accessor, "w1", engine)
    participant.start()
    message = a_message(helix, session=helix.accessor.session)
    helix.accessor.apply([Create(PATHS.message("w1", message.id), message.record)])
    begun.wait()
    assert not participant.shutdown(timeout_s=0)
    may_end.set()
    assert participant.shutdown()


def test_messages_that_nobody_can_obey_change_nothing(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1")
    send(helix, a_message(helix, session="another"))
    send(helix, Message.no_op("m2", 1000, "w1"))
    assert state(helix) is None
    send(helix, a_message(helix, "m3", from_state="ONLINE", to_state="OFFLINE"))
    assert state(helix) == {"CURRENT_STATE": "OFFLINE", "INFO": ""}


def test_an_unreadable_message_stays_and_the_others_are_obeyed(
    helix: HelixOnZooKeeper, caplog: pytest.LogCaptureFixture
) -> None:
    helix.start_participant("w1")
    path = PATHS.message("w1", "m0")
    helix.accessor.zk.create(path, b'{"id" : "m0", "unknown" : 1}')
    send(helix, a_message(helix))
    assert state(helix) == {"CURRENT_STATE": "ONLINE", "INFO": ""}
    assert helix.accessor.zk.exists(path) is not None
    assert f"{path} is ignored" in caplog.text


def test_its_history_has_each_session(helix: HelixOnZooKeeper) -> None:
    helix.start_participant("w1")
    helix.sessions["w1"].expire()

    def history() -> ZNRecord:
        return helix.record(PATHS.instance("w1", "HISTORY")) or ZNRecord("w1")

    eventually(lambda: len(history().list_fields.get("HISTORY", ())) == 2)
    assert history().simple_fields == sample(JOINING, "w1/HISTORY").simple_fields


@pytest.mark.parametrize("at", ["PARTICIPANT/w1", "LIVEINSTANCES/w1", "HISTORY"])
def test_a_session_that_ends_while_it_joins_is_not_the_one_it_has(helix: HelixOnZooKeeper, at: str) -> None:
    tree = helix.accessor.zk.tree  # type: ignore[attr-defined]

    def expire_once(path: str) -> None:
        if path.endswith(at):
            tree.after_change = lambda _path: None
            helix.sessions["w1"].expire()

    tree.after_change = expire_once
    helix.start_participant("w1")
    live = helix.record(PATHS.live_instance("w1"))
    assert live is not None
    assert live.simple_fields["SESSION_ID"] == session_of(helix)
    send(helix, a_message(helix))
    assert state(helix) == {"CURRENT_STATE": "ONLINE", "INFO": ""}


def test_the_news_of_the_session_that_it_has_already_stops_nothing(
    helix: HelixOnZooKeeper, caplog: pytest.LogCaptureFixture
) -> None:
    helix.start_participant("w1")
    send(helix, a_message(helix))
    for listener in helix.sessions["w1"]._listeners:
        listener()
    send(helix, a_message(helix, "m2", from_state="ONLINE", to_state="OFFLINE"))
    assert state(helix) == {"CURRENT_STATE": "OFFLINE", "INFO": ""}
    assert "the message expects" not in caplog.text
