"""A share group as ShareGroupDescribe shows it.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroup.java (asDescribedGroup) · book 5.2.2
"""

from __future__ import annotations

from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.topic_partitions import in_order
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage
from kafka_lite.protocol.messages.api_77_share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)


def described_share_group(group: ShareGroup, assignor: str, topics: TopicsImage) -> DescribedGroup:
    """The group with all members. Partitions of topics that are gone are left out."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=assignor,
        members=[_described_member(member, topics) for member in group.members.values()],
    )


def _described_member(member: ShareGroupMember, topics: TopicsImage) -> Member:
    named = [
        TopicPartitions(topic_id=topic_id, topic_name=name, partitions=numbers)
        for topic_id, numbers in in_order(member.assigned)
        if (name := topics.topic_name(topic_id)) is not None
    ]
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        assignment=Assignment(topic_partitions=named),
    )
