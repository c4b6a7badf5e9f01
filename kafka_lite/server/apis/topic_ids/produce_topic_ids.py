"""Topics of Produce, which have ids in place of names since version 13.

Kafka 4.1: core/.../server/KafkaApis.scala (handleProduceRequest) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.apis.topic_ids.offset_topic_ids import TopicNames

FIRST_VERSION_WITH_TOPIC_IDS = 13


def by_produce_topic_ids(topics: TopicNames, close_connection: Callable[[Request], None], handler: Handler) -> Handler:
    """A handler of Produce in all versions, from one that knows topics by name.

    The partitions of an unknown id get UNKNOWN_TOPIC_ID: a topic that was deleted and made again has another id, so
    records for the old one do not get into the new one. With acks=0 the connection is closed, as after other errors.
    """

    def handle(request: Request, body: produce.ProduceRequest, respond: Respond) -> None:
        if request.header.api_version < FIRST_VERSION_WITH_TOPIC_IDS:
            handler(request, body, respond)
            return
        unknown = _set_names(topics, body)
        ids = {topic.name: topic.topic_id for topic in body.topic_data}

        def complete(response: Any) -> None:
            if body.acks == 0 and unknown:
                close_connection(request)
                return
            if response is not None:
                for topic in response.responses:
                    topic.topic_id = ids[topic.name]
                response.responses += unknown
            respond(response)

        if ids or not unknown:
            handler(request, body, complete)
        else:
            complete(produce.ProduceResponse())

    return handle


def _set_names(topics: TopicNames, body: produce.ProduceRequest) -> list[produce.TopicProduceResponse]:
    """Give the topics their names; those without one leave the request, and get the returned results."""
    known, unknown = [], []
    for topic in body.topic_data:
        name = topics.topic_name(topic.topic_id)
        if name is None:
            unknown.append(_unknown(topic))
        else:
            topic.name = name
            known.append(topic)
    body.topic_data = known
    return unknown


def _unknown(topic: produce.TopicProduceData) -> produce.TopicProduceResponse:
    error = Errors.UNKNOWN_TOPIC_ID.code
    return produce.TopicProduceResponse(
        topic_id=topic.topic_id,
        partition_responses=[
            produce.PartitionProduceResponse(index=each.index, error_code=error, base_offset=-1)
            for each in topic.partition_data
        ],
    )
