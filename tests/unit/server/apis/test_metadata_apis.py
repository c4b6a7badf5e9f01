"""What clients learn about the cluster: versions, topics, coordinators, brokers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.network.request import ClientInformation
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.messages import api_03_metadata as metadata
from kafka_lite.protocol.messages import api_10_find_coordinator as coordinators
from kafka_lite.protocol.messages import api_18_api_versions as versions
from kafka_lite.protocol.messages import api_60_describe_cluster as cluster
from kafka_lite.protocol.messages import api_75_describe_topic_partitions as pages
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_lite.server.apis.api_handler import ApiRange
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.apis.metadata_apis import (
    CLUSTER_OPERATIONS,
    MAX_CREATED_TOPICS,
    NO_AUTHORIZED_OPERATIONS,
    TOPIC_OPERATIONS,
    MetadataApis,
)
from kafka_lite.server.metadata_cache import MetadataCache

GROUPS, TRANSACTIONS, SHARES = "__consumer_offsets", "__transaction_state", "__share_group_state"
RANGES = {ApiKey.PRODUCE: ApiRange(0, 9), ApiKey.API_VERSIONS: ApiRange(0, 4)}


def broker(number: int, *listeners: str) -> UpdateMetadataBroker:
    end_points = [
        UpdateMetadataEndpoint(host=f"host{number}", port=9000 + number, listener=name, security_protocol=0)
        for name in listeners
    ]
    return UpdateMetadataBroker(id=number, endpoints=end_points, rack=f"rack{number}")


def partition(topic: str, index: int, leader: int) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name=topic, partition_index=index, leader=leader, isr=[leader], replicas=[leader]
    )


class Apis:
    """Brokers 1 and 2; broker 3 does not have the listener of the client. Broker 2 is the controller."""

    def __init__(self, auto_create: bool = True) -> None:
        self.created: list[str] = []
        self.information = ClientInformation()
        self.creation_error = Errors.NONE
        self.cache = MetadataCache(1)
        config = SimpleNamespace(
            auto_create_topics_enable=auto_create, values={"max.request.partition.size.limit": 2000}
        )
        self.apis = MetadataApis(
            cast(Any, config), "id", self.cache, lambda: Broker(9, ()), self.create, ApiVersionManager(RANGES)
        )
        self.update()

    def update(self, *partitions: UpdateMetadataPartitionState) -> None:
        brokers = [broker(1, "PLAINTEXT"), broker(2, "INSIDE", "PLAINTEXT"), broker(3, "INSIDE")]
        self.cache.update_cache(
            UpdateMetadataRequest(controller_id=2, ungrouped_partition_states=list(partitions), live_brokers=brokers)
        )

    def create(self, topic: str) -> None:
        self.created.append(topic)
        if self.creation_error is not Errors.NONE:
            raise ApiError(self.creation_error)

    def handle(self, name: str, body: Any, version: int) -> Any:
        request = SimpleNamespace(
            header=SimpleNamespace(api_version=version), listener_name="PLAINTEXT", client_information=self.information
        )
        responses: list[Any] = []
        getattr(self.apis, f"handle_{name}")(cast(Any, request), body, responses.append)
        (response,) = responses
        response.encode(version)
        return response

    def coordinator(self, key: str, key_type: int = 0) -> tuple[Errors, int, str, int]:
        found = self.handle("find_coordinator", coordinators.FindCoordinatorRequest(key=key, key_type=key_type), 3)
        (again,) = self.handle(
            "find_coordinator", coordinators.FindCoordinatorRequest(coordinator_keys=[key], key_type=key_type), 4
        ).coordinators
        assert again.key == key
        for field in ("error_code", "node_id", "host", "port"):
            assert getattr(found, field) == getattr(again, field)
        assert found.error_message == (again.error_message if found.error_code else "NONE")
        return Errors.for_code(found.error_code), found.node_id, found.host, found.port


@pytest.fixture
def apis() -> Apis:
    return Apis()


# -- versions


@pytest.mark.parametrize(
    ("name", "version", "is_valid"),
    [
        ("a", "1.0-b", True), ("apache-kafka-java", "3.9.0", True), ("", "1", False), ("a", "", False),
        ("-a", "1", False), ("a", "1.", False), ("a b", "1", False), ("a\n", "1", False),
    ],
)  # fmt: skip
def test_software_without_a_valid_name_and_version_is_refused_since_version_3(
    apis: Apis, name: str, version: str, is_valid: bool
) -> None:
    body = versions.ApiVersionsRequest(client_software_name=name, client_software_version=version)
    error = Errors.NONE if is_valid else Errors.INVALID_REQUEST
    assert Errors.for_code(apis.handle("api_versions", body, 3).error_code) is error
    known = (apis.information.software_name, apis.information.software_version)
    assert known == ((name, version) if is_valid else ("unknown", "unknown"))
    answer = apis.handle("api_versions", body, 2)
    assert answer.error_code == 0
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == [(0, 0, 9), (18, 0, 4)]


def test_a_client_with_newer_versions_learns_the_newest_here(apis: Apis) -> None:
    answer = apis.apis.unsupported_api_versions()
    assert Errors.for_code(answer.error_code) is Errors.UNSUPPORTED_VERSION
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == [(18, 0, 4)]


# -- topics


@pytest.mark.parametrize(
    ("version", "broker_allows", "client_allows", "is_created"),
    [(3, True, False, True), (4, True, True, True), (4, True, False, False), (4, False, True, False),
     (3, False, True, False)],
)  # fmt: skip
def test_a_missing_topic_is_created_if_broker_and_client_allow_it(
    version: int, broker_allows: bool, client_allows: bool, is_created: bool
) -> None:
    apis = Apis(broker_allows)
    body = metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name="t")], allow_auto_topic_creation=client_allows
    )
    (topic,) = apis.handle("metadata", body, version).topics
    error = Errors.LEADER_NOT_AVAILABLE if is_created else Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert (topic.name, Errors.for_code(topic.error_code)) == ("t", error)
    assert apis.created == (["t"] if is_created else [])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Errors.TOPIC_ALREADY_EXISTS, Errors.LEADER_NOT_AVAILABLE),
        (Errors.INVALID_REPLICATION_FACTOR, Errors.INVALID_REPLICATION_FACTOR),
    ],
)
def test_an_error_of_the_creation_is_told_unless_another_was_faster(apis: Apis, error: Errors, told: Errors) -> None:
    apis.creation_error = error
    body = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name="t")])
    (topic,) = apis.handle("metadata", body, 4).topics
    assert Errors.for_code(topic.error_code) is told


@pytest.mark.parametrize(
    ("version", "asked", "told"), [(0, [], ["t", GROUPS]), (1, [], []), (1, None, ["t", GROUPS]), (1, ["t"], ["t"])]
)
def test_an_empty_list_means_all_topics_in_version_0_only(
    apis: Apis, version: int, asked: list[str] | None, told: list[str]
) -> None:
    apis.update(partition("t", 0, 1), partition(GROUPS, 0, 1))
    topics = None if asked is None else [metadata.MetadataRequestTopic(name=name) for name in asked]
    found = apis.handle("metadata", metadata.MetadataRequest(topics=topics), version).topics
    assert [topic.name for topic in found] == told
    assert [topic.is_internal for topic in found] == [name == GROUPS for name in told]


@pytest.mark.parametrize(
    ("version", "error", "replicas"), [(0, Errors.REPLICA_NOT_AVAILABLE, [1]), (1, Errors.NONE, [1, 7])]
)
def test_a_dead_replica_is_an_error_in_version_0_only(
    apis: Apis, version: int, error: Errors, replicas: list[int]
) -> None:
    state = partition("t", 0, 1)
    state.replicas = [1, 7]
    apis.update(state)
    body = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name="t")])
    (found,) = apis.handle("metadata", body, version).topics[0].partitions
    assert (Errors.for_code(found.error_code), found.replica_nodes) == (error, replicas)


def test_topics_are_found_by_id_and_then_names_are_ignored(apis: Apis) -> None:
    known, unknown = UUID(int=7), UUID(int=8)
    topic = UpdateMetadataTopicState(topic_name="t", topic_id=known, partition_states=[partition("", 0, 1)])
    apis.cache.update_cache(UpdateMetadataRequest(controller_id=2, topic_states=[topic]))
    asked = [metadata.MetadataRequestTopic(name=None, topic_id=each) for each in (unknown, known, known)]
    asked.append(metadata.MetadataRequestTopic(name="new"))
    answer = apis.handle("metadata", metadata.MetadataRequest(topics=asked, allow_auto_topic_creation=True), 12)
    assert [(each.name, each.topic_id, Errors.for_code(each.error_code)) for each in answer.topics] == [
        ("t", known, Errors.NONE),
        (None, unknown, Errors.UNKNOWN_TOPIC_ID),
    ]
    assert len(answer.topics[0].partitions) == 1
    assert apis.created == []
    by_name = apis.handle("metadata", metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name="t")]), 10)
    assert [each.topic_id for each in by_name.topics] == [known]


@pytest.mark.parametrize("asked", [True, False])
def test_permissions_are_told_to_whom_asks_for_them(apis: Apis, asked: bool) -> None:
    apis.update(partition("t", 0, 1))
    body = metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name="t")],
        include_cluster_authorized_operations=asked,
        include_topic_authorized_operations=not asked,
    )
    answer = apis.handle("metadata", body, 8)
    none = NO_AUTHORIZED_OPERATIONS
    assert (answer.cluster_authorized_operations != none) is asked
    assert (answer.topics[0].topic_authorized_operations != none) is not asked


# -- coordinators


@pytest.mark.parametrize(("key_type", "topic"), [(0, GROUPS), (1, TRANSACTIONS)])
def test_the_coordinator_leads_the_partition_of_its_topic_that_stores_the_key(
    apis: Apis, key_type: int, topic: str
) -> None:
    """ "a".hashCode() is 97, that of "polygenelubricants" the least int."""
    apis.update(*(partition(topic, index, 1 + index % 2) for index in range(6)))
    assert apis.coordinator("a", key_type) == (Errors.NONE, 2, "host2", 9002)
    assert apis.coordinator("b", key_type) == (Errors.NONE, 1, "host1", 9001)
    assert apis.coordinator("polygenelubricants", key_type) == (Errors.NONE, 1, "host1", 9001)


@pytest.mark.parametrize("auto_create", [True, False])
def test_the_topic_of_the_coordinators_is_created_if_it_is_missing(auto_create: bool) -> None:
    apis = Apis(auto_create)
    assert apis.coordinator("a") == (Errors.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
    assert apis.coordinator("a", 1) == (Errors.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
    assert set(apis.created) == {GROUPS, TRANSACTIONS}


@pytest.mark.parametrize("leader", [-1, 3, 7])
def test_a_coordinator_without_a_leader_that_the_client_can_reach_is_not_available(apis: Apis, leader: int) -> None:
    apis.update(partition(GROUPS, 0, leader))
    assert apis.coordinator("a")[:2] == (Errors.COORDINATOR_NOT_AVAILABLE, -1)
    assert not apis.created


def test_a_key_of_an_unknown_type_has_no_coordinator(apis: Apis) -> None:
    assert apis.coordinator("a", 3) == (Errors.INVALID_REQUEST, -1, "", -1)


def test_share_partitions_have_coordinators_since_version_6(apis: Apis) -> None:
    key = SharePartitionKey("group", UUID(int=2**64), 0).as_coordinator_key()
    apis.update(*(partition(SHARES, index, 1 + index % 2) for index in range(2)))
    body = coordinators.FindCoordinatorRequest(coordinator_keys=[key, "group:0", "g:?:1"], key_type=2)
    found = apis.handle("find_coordinator", body, 6).coordinators
    assert [Errors.for_code(each.error_code) for each in found] == [
        Errors.NONE,
        Errors.INVALID_REQUEST,
        Errors.INVALID_REQUEST,
    ]
    assert found[0].node_id in (1, 2)
    assert apis.coordinator(key, 2) == (Errors.INVALID_REQUEST, -1, "", -1)
    assert not apis.created


def test_the_topic_of_share_partitions_is_created_if_it_is_missing(apis: Apis) -> None:
    key = SharePartitionKey("group", UUID(int=2**64), 0).as_coordinator_key()
    body = coordinators.FindCoordinatorRequest(coordinator_keys=[key], key_type=2)
    (found,) = apis.handle("find_coordinator", body, 6).coordinators
    assert Errors.for_code(found.error_code) is Errors.COORDINATOR_NOT_AVAILABLE
    assert apis.created == [SHARES]


def test_each_key_has_its_own_coordinator(apis: Apis) -> None:
    apis.update(partition(GROUPS, 0, 1), partition(GROUPS, 1, -1))
    body = coordinators.FindCoordinatorRequest(coordinator_keys=["a", "b"])
    found = apis.handle("find_coordinator", body, 4).coordinators
    assert [(each.key, Errors.for_code(each.error_code), each.node_id) for each in found] == [
        ("a", Errors.COORDINATOR_NOT_AVAILABLE, -1),
        ("b", Errors.NONE, 1),
    ]


# -- the cluster


@pytest.mark.parametrize("with_operations", [True, False])
def test_the_cluster_is_described_by_the_listener_of_the_client(apis: Apis, with_operations: bool) -> None:
    body = cluster.DescribeClusterRequest(include_cluster_authorized_operations=with_operations)
    answer = apis.handle("describe_cluster", body, 0)
    assert (answer.cluster_id, answer.controller_id, answer.error_code) == ("id", 2, 0)
    assert [(each.broker_id, each.host, each.port, each.rack) for each in answer.brokers] == [
        (1, "host1", 9001, "rack1"),
        (2, "host2", 9002, "rack2"),
    ]
    expected = CLUSTER_OPERATIONS if with_operations else NO_AUTHORIZED_OPERATIONS
    assert answer.cluster_authorized_operations == expected


def test_many_keys_ask_for_the_leaders_of_the_topic_once(apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    apis.update(*(partition(GROUPS, index, 1) for index in range(50)))
    asked: list[Any] = []
    get = apis.cache.get_topic_metadata

    def counting(*args: Any, **options: Any) -> Any:
        asked.append(args)
        return get(*args, **options)

    monkeypatch.setattr(apis.cache, "get_topic_metadata", counting)
    body = coordinators.FindCoordinatorRequest(coordinator_keys=[f"g{number}" for number in range(1000)])
    found = apis.handle("find_coordinator", body, 4).coordinators
    assert {each.node_id for each in found} == {1}
    assert len(found) == 1000
    assert len(asked) == 1


def test_one_request_creates_a_missing_topic_of_coordinators_once(apis: Apis) -> None:
    body = coordinators.FindCoordinatorRequest(coordinator_keys=[f"g{number}" for number in range(1000)])
    found = apis.handle("find_coordinator", body, 4).coordinators
    assert {Errors.for_code(each.error_code) for each in found} == {Errors.COORDINATOR_NOT_AVAILABLE}
    assert apis.created == [GROUPS]


def test_one_metadata_request_creates_a_bounded_number_of_topics(apis: Apis) -> None:
    names = [f"t{number}" for number in range(MAX_CREATED_TOPICS + 50)]
    body = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=name) for name in names])
    topics = apis.handle("metadata", body, 9).topics
    assert apis.created == names[:MAX_CREATED_TOPICS]
    told = [Errors.for_code(topic.error_code) for topic in topics]
    assert told == [Errors.LEADER_NOT_AVAILABLE] * MAX_CREATED_TOPICS + [Errors.UNKNOWN_TOPIC_OR_PARTITION] * 50


@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [(1, Errors.NONE), (2, Errors.MISMATCHED_ENDPOINT_TYPE), (0, Errors.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_a_broker_is_no_endpoint_of_a_controller(apis: Apis, endpoint_type: int, error: Errors) -> None:
    answer = apis.handle("describe_cluster", cluster.DescribeClusterRequest(endpoint_type=endpoint_type), 1)
    assert Errors.for_code(answer.error_code) is error
    assert (answer.error_message is None) == (error is Errors.NONE) == bool(answer.brokers)


def test_topics_are_described_by_pages(apis: Apis) -> None:
    apis.update(*(partition("t", index, 1) for index in range(3)))
    body = pages.DescribeTopicPartitionsRequest(response_partition_limit=2)
    answer = apis.handle("describe_topic_partitions", body, 0)
    [topic] = answer.topics
    assert (topic.name, [each.partition_index for each in topic.partitions]) == ("t", [0, 1])
    assert topic.topic_authorized_operations == TOPIC_OPERATIONS
    body.cursor = answer.next_cursor
    [topic] = apis.handle("describe_topic_partitions", body, 0).topics
    assert [each.partition_index for each in topic.partitions] == [2]
    body.topics = [pages.TopicRequest(name="u")]
    [topic] = apis.handle("describe_topic_partitions", body, 0).topics
    assert topic.error_code == Errors.INVALID_REQUEST.code


# -- what mutants have shown


def test_every_answer_names_cluster_controller_and_brokers(apis: Apis) -> None:
    answer = apis.handle("metadata", metadata.MetadataRequest(topics=[]), 9)
    assert (answer.cluster_id, answer.controller_id) == ("id", 2)
    assert [(each.node_id, each.host, each.port, each.rack) for each in answer.brokers] == [
        (1, "host1", 9001, "rack1"),
        (2, "host2", 9002, "rack2"),
    ]


def with_id(apis: Apis, name: str, number: int, *leaders: int) -> UUID:
    """A topic whose partitions have these leaders, in the cache beside others."""
    topic_id = UUID(int=number)
    states = [partition("", index, leader) for index, leader in enumerate(leaders)]
    topic = UpdateMetadataTopicState(topic_name=name, topic_id=topic_id, partition_states=states)
    brokers = [broker(1, "PLAINTEXT"), broker(2, "INSIDE", "PLAINTEXT"), broker(3, "INSIDE")]
    apis.cache.update_cache(UpdateMetadataRequest(controller_id=2, topic_states=[topic], live_brokers=brokers))
    return topic_id


def test_topics_by_id_are_told_with_the_leaders_that_the_client_reaches(apis: Apis, monkeypatch: Any) -> None:
    asked: list[Any] = []
    get = apis.cache.get_topic_metadata

    def noting(names: Any, *rest: Any, **options: Any) -> Any:
        names = None if names is None else list(names)
        asked.append(names)
        return get(names, *rest, **options)

    monkeypatch.setattr(apis.cache, "get_topic_metadata", noting)
    with_id(apis, "other", 6, 1)
    topic_id = with_id(apis, "t", 7, 1, 3)
    body = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=None, topic_id=topic_id)])
    [topic] = apis.handle("metadata", body, 12).topics
    assert [(each.leader_id, Errors.for_code(each.error_code)) for each in topic.partitions] == [
        (1, Errors.NONE),
        (3, Errors.LISTENER_NOT_FOUND),
    ]
    assert asked == [["t"]], "and no other topic is looked up"


def test_a_topic_without_a_name_and_an_id_is_invalid(apis: Apis) -> None:
    body = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=None)], allow_auto_topic_creation=True)
    [topic] = apis.handle("metadata", body, 12).topics
    assert Errors.for_code(topic.error_code) is Errors.INVALID_TOPIC_EXCEPTION
    assert apis.created == []


def test_ids_are_refused_before_the_version_that_allows_them_without_telling_permissions(apis: Apis) -> None:
    asked = [metadata.MetadataRequestTopic(name=None, topic_id=UUID(int=7))]
    body = metadata.MetadataRequest(topics=asked, include_cluster_authorized_operations=True)
    answer = apis.handle("metadata", body, 10)
    [topic] = answer.topics
    assert (Errors.for_code(topic.error_code), topic.topic_id) == (Errors.INVALID_REQUEST, UUID(int=7))
    assert answer.cluster_authorized_operations == NO_AUTHORIZED_OPERATIONS


def test_a_topic_of_coordinators_may_have_one_partition_and_other_topics_do_not_count(apis: Apis) -> None:
    apis.update(partition("a", 0, 2), partition("a", 1, 2), partition(GROUPS, 0, 1))
    assert {apis.coordinator(key) for key in ("a", "b", "c")} == {(Errors.NONE, 1, "host1", 9001)}


def test_a_partition_of_which_the_broker_does_not_know_yet_has_no_leader(apis: Apis) -> None:
    apis.update(partition(GROUPS, 0, 1), partition(GROUPS, 2, 1))
    assert apis.coordinator("b")[:2] == (Errors.NONE, 1)
    assert apis.coordinator("a")[:2] == (Errors.COORDINATOR_NOT_AVAILABLE, -1)


def message_of(apis: Apis, key_type: int) -> str:
    body = coordinators.FindCoordinatorRequest(coordinator_keys=["a"], key_type=key_type)
    message = apis.handle("find_coordinator", body, 4).coordinators[0].error_message
    assert isinstance(message, str)
    return message


def test_a_missing_coordinator_has_its_reason(apis: Apis) -> None:
    assert message_of(apis, 0) == f"{GROUPS} is being created"
    assert message_of(apis, 7) == "this broker has no coordinators of key type 7"
    apis.update(partition(GROUPS, 0, -1))
    assert message_of(apis, 0) == f"{GROUPS}-0 has no leader"


@pytest.mark.parametrize(("keys", "key_type"), [([], 0), (["a"], 7)])
def test_no_topic_of_coordinators_is_created_for_no_key(apis: Apis, keys: list[str], key_type: int) -> None:
    body = coordinators.FindCoordinatorRequest(coordinator_keys=keys, key_type=key_type)
    assert len(apis.handle("find_coordinator", body, 4).coordinators) == len(keys)
    assert apis.created == []


def test_the_refusal_of_a_broker_that_is_no_controller_has_kafkas_words(apis: Apis) -> None:
    answer = apis.handle("describe_cluster", cluster.DescribeClusterRequest(endpoint_type=2), 1)
    expected = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
    assert answer.error_message == expected


def test_a_page_may_have_one_partition_and_names_the_error_of_a_missing_topic(apis: Apis) -> None:
    apis.update(partition("a", 0, 1), partition("b", 0, 3), partition("b", 1, 1))
    body = pages.DescribeTopicPartitionsRequest(response_partition_limit=1)
    assert [len(topic.partitions) for topic in apis.handle("describe_topic_partitions", body, 0).topics] == [1]
    body.response_partition_limit = 10
    body.topics = [pages.TopicRequest(name=name) for name in ("b", "missing")]
    found, missing = apis.handle("describe_topic_partitions", body, 0).topics
    assert [each.leader_id for each in found.partitions] == [-1, 1], "the client does not reach broker 3"
    assert (missing.name, Errors.for_code(missing.error_code)) == ("missing", Errors.UNKNOWN_TOPIC_OR_PARTITION)


def test_a_topic_that_is_deleted_while_its_page_is_made_is_left_out(apis: Apis, monkeypatch: Any) -> None:
    monkeypatch.setattr(apis.cache, "get_all_topics", lambda: ["gone"])
    body = pages.DescribeTopicPartitionsRequest(response_partition_limit=10)
    assert apis.handle("describe_topic_partitions", body, 0).topics == []
