"""A group of KIP-848 as ConsumerGroupDescribe shows it.

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroup.java (asDescribedGroup) · book 5.2.2
"""

from __future__ import annotations

from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, in_order
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage
from kafka_lite.protocol.messages.api_69_consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)

CLASSIC_MEMBER, MEMBER_OF_KIP_848 = 0, 1


def described_group(group: ConsumerGroup, default_assignor: str, topics: TopicsImage) -> DescribedGroup:
    """The group with all members."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor(default_assignor),
        members=[
            _described_member(member, group.target.get(member.member_id, {}), topics)
            for member in group.members.values()
        ],
    )


def _described_member(member: ConsumerGroupMember, target: TopicIdPartitions, topics: TopicsImage) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex or "",
        assignment=_named(member.assigned, topics),
        target_assignment=_named(target, topics),
        member_type=MEMBER_OF_KIP_848 if member.classic is None else CLASSIC_MEMBER,
    )


def _named(partitions: TopicIdPartitions, topics: TopicsImage) -> Assignment:
    """The partitions with the names of their topics; those of topics that are gone are left out."""
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=name, partitions=numbers)
            for topic_id, numbers in in_order(partitions)
            if (name := topics.topic_name(topic_id)) is not None
        ]
    )
