"""A topic as JSON."""

from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import ideal_state_of
from kafka_lite.mirror.ureplicator.controller.topic_mappings import topic_mappings

IDEAL = ideal_state_of("t", {str(number): {"w1": "ONLINE"} for number in (0, 2, 10)}, 11)
VIEW = ZNRecord(
    "t", map_fields={"0": {"w1": "ONLINE"}, "10": {"w1": "ONLINE", "w2": "OFFLINE"}, "2": {"w2": "ERROR"}, "3": {}}
)


def test_instances_are_shown_in_any_state_and_counted_if_online() -> None:
    assert topic_mappings("t", IDEAL, VIEW) == {
        "topic": "t",
        "externalView": {"0": ["w1"], "2": ["w2"], "10": ["w1", "w2"]},
        "idealState": {"0": ["w1"], "2": ["w1"], "10": ["w1"]},
        "serverToPartitionMapping": {"w1": ["0", "10"]},
        "serverToNumPartitionsMapping": {"w1": 2},
    }


def test_the_backup_has_another_name() -> None:
    assert topic_mappings("t", IDEAL, ZNRecord("t"), "idealStateMapping") == {
        "topic": "t",
        "externalView": {},
        "idealStateMapping": {"0": ["w1"], "2": ["w1"], "10": ["w1"]},
        "serverToPartitionMapping": {},
        "serverToNumPartitionsMapping": {},
    }
