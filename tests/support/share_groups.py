"""A coordinator of share groups without a broker, and members that do as share consumers do."""

from __future__ import annotations

from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.share_group_records import ShareGroupRecord
from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions
from tests.support.modern_groups import T

WHOLE_SHARE_MEMBER = ShareGroupMember(
    "m",
    rack_id="r",
    client_id="c",
    client_host="/h",
    subscribed_topic_names=frozenset({"b", "a"}),
    member_epoch=3,
    previous_member_epoch=2,
    assigned={T: frozenset({0, 1})},
)
EVERY_SHARE_RECORD: list[ShareGroupRecord] = [
    group_records.group_epoch("g", 3, -5),
    group_records.member_subscription("g", WHOLE_SHARE_MEMBER),
    group_records.target_epoch("g", 3),
    group_records.target_assignment("g", "m", {T: frozenset({1, 0})}),
    group_records.current_assignment("g", WHOLE_SHARE_MEMBER),
    group_records.state_partitions("g", StatePartitions(initialized={T: frozenset({0, 1})}, names={T: "a"})),
]
"""One record of each kind, of a group with one member."""
