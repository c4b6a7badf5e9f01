"""What each end of a transition leaves in ZooKeeper."""

import pytest

from kafka_lite.mirror.helix.model.built_in_state_models import ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.participant.message_receiver import receive_messages
from kafka_lite.mirror.helix.participant.session import carry_over, join
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine
from kafka_lite.mirror.helix.participant.state_transition_handler import run_transition, writes_after
from kafka_lite.mirror.helix.writes import Create, Delete, Put
from tests.support.helix_cluster import PATHS, AnyTransition
from tests.support.helix_samples import record

CONFIG = InstanceConfig.joining("w1")
STATE = PATHS.current_state("w1", "s1", "t")
DONE = Delete(PATHS.message("w1", "m"))


def message(start, to, message_id="m", created=1, **changes):
    values = {"source": ("c", "c1"), "target": ("w1", "s1"), "resource": "t", "partition": "0", **changes}
    return Message.transition(message_id, created, from_state=start, to_state=to, state_model="OnlineOffline", **values)


def end(start, to, state="OFFLINE", failing=(), session="s1", others=None):
    """The replica after a transition, and the writes that follow."""
    replica = AnyTransition(ONLINE_OFFLINE, "0", failing)
    replica.current_state = state
    current = CurrentState.empty("t", "s1", "OnlineOffline").with_state("0", state)
    for partition, other in (others or {}).items():
        current = current.with_state(partition, other)
    result = run_transition(replica, message(start, to))
    return replica.current_state, writes_after(result, current, CONFIG, session, PATHS)


def states(write):
    return CurrentState(write.record).states


def test_success_writes_the_state_and_then_deletes_the_message():
    state, (put, done) = end("OFFLINE", "ONLINE")
    assert (state, put.path, states(put), done) == ("ONLINE", STATE, {"0": "ONLINE"}, DONE)
    assert put.record.map_fields == {"0": {"CURRENT_STATE": "ONLINE", "INFO": ""}}


def test_a_dropped_partition_is_removed_and_the_last_one_with_its_record():
    assert states(end("OFFLINE", "DROPPED", others={"1": "ONLINE"})[1][0]) == {"1": "ONLINE"}
    assert end("OFFLINE", "DROPPED")[1] == [Delete(STATE), DONE]


def test_a_message_that_expects_another_state_changes_nothing():
    state, (put, done) = end("ONLINE", "OFFLINE", state="OFFLINE")
    assert (state, states(put), done) == ("OFFLINE", {"0": "OFFLINE"}, DONE)


@pytest.mark.parametrize(
    ("start", "to", "failing"), [("OFFLINE", "ONLINE", {"0"}), ("OFFLINE", "MASTER", ()), ("OFFLINE", "", ())]
)
def test_a_failure_an_unknown_transition_and_a_bad_message_end_in_error(start, to, failing):
    state, (put, done) = end(start, to, failing=failing)
    assert (state, states(put), done) == ("ERROR", {"0": "ERROR"}, DONE)


def test_a_reset_leads_out_of_error():
    state, (put, _) = end("ERROR", "OFFLINE", state="ERROR")
    assert (state, states(put)) == ("OFFLINE", {"0": "OFFLINE"})


def test_a_reset_that_fails_disables_the_partition_before_all():
    state, (disabled, put, done) = end("ERROR", "OFFLINE", state="ERROR", failing={"0"})
    assert (state, states(put), done) == ("ERROR", {"0": "ERROR"}, DONE)
    assert disabled == Put(PATHS.instance_config("w1"), CONFIG.with_partition_disabled("t", "0").record)
    real = record("reset of partition 7", "/CONFIGS/PARTICIPANT/w3")
    assert InstanceConfig.joining("w3").with_partition_disabled("e", "7").record == real


def test_a_drop_out_of_error_needs_no_action():
    assert end("ERROR", "DROPPED", state="ERROR", failing={"0"})[1] == [Delete(STATE), DONE]


def test_a_transition_of_an_old_session_leaves_only_its_message_deleted():
    assert end("OFFLINE", "ONLINE", session="s2")[1] == [DONE]


# ---------------------------------------------------------------------------------------------------- taking messages


def engine():
    made = StateMachineEngine()
    made.register("OnlineOffline", lambda _, partition: AnyTransition(ONLINE_OFFLINE, partition), "OFFLINE")
    return made


def receive(*messages, resources=()):
    return receive_messages(messages, engine(), "s1", resources, PATHS, 9)


def test_messages_are_taken_in_the_order_of_their_creation():
    late, early = message("OFFLINE", "ONLINE", "a", 2), message("OFFLINE", "ONLINE", "b", 1, partition="1")
    received = receive(late, early)
    assert [taken.id for _, taken in received.transitions] == ["b", "a"]
    empty = CurrentState.empty("t", "s1", "OnlineOffline").record
    marked = [Put(PATHS.message("w1", one.id), one.read("s1", 9).record) for one in (early, late)]
    assert received.writes == [Create(STATE, empty), *marked]
    assert receive(late, resources=["t"]).writes == marked[1:]


def test_what_is_not_for_this_session_and_a_no_op_are_deleted():
    strange = message("OFFLINE", "ONLINE", target=("w1", "s0"))
    assert receive(strange).writes == receive(Message.no_op("m", 1, "w1")).writes == [DONE]


def test_a_message_that_was_read_or_has_no_factory_stays():
    foreign = message("OFFLINE", "ONLINE", factory="OTHER")
    read = message("OFFLINE", "ONLINE").read("s1", 3)
    assert receive(foreign, read).writes == []


def test_a_lost_session_resets_all_replicas():
    replicas = engine()
    replica = replicas.replica_for(message("OFFLINE", "ONLINE"))
    replica.current_state = "ONLINE"
    replicas.reset()
    assert [(r, p, one.current_state) for r, p, one in replicas] == [("t", "0", "OFFLINE")]
    replicas.remove("t", "0")
    assert list(replicas) == []


# ------------------------------------------------------------------------------------------------------------ sessions


def test_partitions_of_an_old_session_are_carried_over_in_the_initial_state():
    old = CurrentState.empty("t", "s0", "OnlineOffline").with_state("0", "ONLINE").with_state("1", "ERROR")
    models = {"OnlineOffline": ONLINE_OFFLINE}
    put, deleted = carry_over("w1", "s1", {"s0": [old]}, models, PATHS)
    assert (put.path, states(put), CurrentState(put.record).session) == (STATE, {"0": "OFFLINE", "1": "OFFLINE"}, "s1")
    assert deleted == Delete(PATHS.current_states("w1", "s0"))
    assert carry_over("w1", "s1", {"s0": [old]}, {}, PATHS) == [deleted]


def test_a_participant_that_joins_writes_what_the_real_one_wrote():
    config, containers = join("w2", PATHS)
    assert config.record == record("participants w1, w2 start", "/CONFIGS/PARTICIPANT/w2")
    assert containers[0] == PATHS.instance("w2")
    assert InstanceConfig.joining("my_host_8080").record.simple_fields["HELIX_HOST"] == "my_host"
