"""Messages have the fields of a real controller's, an administrator's and a participant's."""

import pytest

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_samples import record

TRANSITION = {
    "resource": "t",
    "partition": "0",
    "from_state": "OFFLINE",
    "to_state": "ONLINE",
    "state_model": "OnlineOffline",
}
NEW = record("resource t, 4 partitions CUSTOMIZED", "/MESSAGES/1c289fa6")


def made(**changes):
    values = {
        "source": ("controller1", "1a21f5a7d790002"),
        "target": ("w1", "1a21f5a7d790004"),
        **TRANSITION,
        **changes,
    }
    return Message.transition(NEW.id, 1795822364984, **values)


def test_a_new_message_is_a_real_controllers():
    assert made(event="idealStateChange").record == NEW


def test_a_participant_marks_it_as_the_real_one_does():
    read = record("resource t, 4 partitions CUSTOMIZED", "/MESSAGES/1c289fa6", which=1)
    assert Message(NEW).read("1a21f5a7d790004", int(read.simple_fields["READ_TIMESTAMP"])).record == read
    assert Message(NEW).is_new
    assert not Message(read).is_new


def test_an_administrator_has_no_session():
    reset = record("reset of partition 7", "/MESSAGES/")
    message = Message.transition(
        reset.id,
        1795822419381,
        source=("localhost-ADMIN", None),
        target=("w3", "1a21f5a7d790010"),
        resource="e",
        partition="7",
        from_state="ERROR",
        to_state="OFFLINE",
        state_model="OnlineOffline",
    )
    assert message.record == reset


def test_a_no_op_is_no_transition():
    written = record("participants w1, w2 start", "/MESSAGES/")
    no_op = Message.no_op(written.id, int(written.simple_fields["CREATE_TIMESTAMP"]), "w2")
    assert no_op.record == written
    assert not no_op.is_transition


@pytest.mark.parametrize(
    "name", ["TGT_NAME", "PARTITION_NAME", "RESOURCE_NAME", "STATE_MODEL_DEF", "FROM_STATE", "TO_STATE"]
)
def test_what_a_transition_needs(name):
    assert made().missing_fields() == ()
    assert Message(made().record.with_simple(**{name: ""})).missing_fields() == (name,)


def test_a_foreign_record_may_lack_anything():
    message = Message(ZNRecord("m"))
    assert (message.type, message.state, message.instance, message.session, message.created_ms) == ("", "", "", "", 0)
    assert message.factory == "DEFAULT"
    assert len(message.missing_fields()) == 7
