"""A broker that is asked what another one is asked, too."""

from __future__ import annotations

from typing import Any, Final, cast

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_15_describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_65_describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from kafka_lite.protocol.schema import Request
from tests.support.differential.symbols import Symbols
from tests.support.differential.vocabulary import GROUPS, PRODUCER_ID, RECORDS, TOPIC_IDS, TOPICS, TRANSACTIONS
from tests.support.eventually import eventually

CLOSED: Final = "the connection was closed"


class AskedBroker:
    """One of the two. What it closes is opened again for the next request."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self._channel = BlockingChannel(host, int(port), read_timeout_ms=30_000)
        self._symbols = Symbols()

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def versions(self) -> dict[int, range]:
        """The versions of each API that it advertises."""
        answer = self._exchange(ApiVersionsRequest(client_software_name="fuzz", client_software_version="1"), 3)
        keys = cast(ApiVersionsResponse, answer).api_keys
        return {key.api_key: range(key.min_version, key.max_version + 1) for key in keys}

    def ask(self, request: Request, version: int) -> Any:
        """Its answer with placeholders for its ids, or ``CLOSED``."""
        try:
            return self._symbols.hidden(self._exchange(cast(Request, self._symbols.resolved(request)), version))
        except ConnectionError:
            self._channel.close()
            return CLOSED

    def _exchange(self, request: Request, version: int) -> Any:
        if not self._channel.is_connected:
            self._channel.connect()
        return self._channel.exchange(request, version)

    # ── what both have at the start ───────────────────────────────────────────────────────────────────────────────

    def prepare(self) -> None:
        """Topics with records, coordinators that have loaded, a transactional id with a producer."""
        topics = [CreatableTopic(name=name, num_partitions=n, replication_factor=1) for name, n in TOPICS.items()]
        self._exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 7)
        eventually(self._knows_its_topics)
        eventually(lambda: self._new_producer(None) is not None)
        eventually(self._has_loaded)
        self._symbols.learn(PRODUCER_ID, self._new_producer("x0"))
        for index in range(TOPICS["t0"]):
            self._produce(index)

    def _knows_its_topics(self) -> bool:
        answer = cast(MetadataResponse, self._exchange(MetadataRequest(topics=None), 12))
        found = {topic.name: topic for topic in answer.topics}
        for name in TOPICS.keys() & found.keys():
            self._symbols.learn(TOPIC_IDS[name], found[name].topic_id)
        leaders = {name: [p.leader_id for p in topic.partitions] for name, topic in found.items()}
        return all(leaders.get(name) == [0] * count for name, count in TOPICS.items())

    def _new_producer(self, transactional_id: str | None) -> int | None:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
        answer = cast(InitProducerIdResponse, self._exchange(request, 4))
        return None if answer.error_code else answer.producer_id

    def _has_loaded(self) -> bool:
        for kind, names in ((0, GROUPS), (1, TRANSACTIONS)):  # which creates the internal topics
            self._exchange(FindCoordinatorRequest(key_type=kind, coordinator_keys=list(names)), 4)
        groups = cast(DescribeGroupsResponse, self._exchange(DescribeGroupsRequest(groups=list(GROUPS)), 5)).groups
        request = DescribeTransactionsRequest(transactional_ids=list(TRANSACTIONS))
        transactions = cast(DescribeTransactionsResponse, self._exchange(request, 0)).transaction_states
        return not {each.error_code for each in (*groups, *transactions)} & {14, 15, 16}

    def _produce(self, index: int) -> None:
        data = PartitionProduceData(index=index, records=RECORDS)
        self._exchange(
            ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[TopicProduceData(name="t0", partition_data=[data])]),
            9,
        )
