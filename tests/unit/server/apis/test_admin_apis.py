"""Which requests of administrators are refused before the admin manager sees them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_19_create_topics as create_topics
from kafka_lite.protocol.messages import api_20_delete_topics as delete_topics
from kafka_lite.protocol.messages import api_32_describe_configs as describe_configs
from kafka_lite.protocol.messages import api_33_alter_configs as alter_configs
from kafka_lite.protocol.messages import api_37_create_partitions as create_partitions
from kafka_lite.protocol.messages import api_44_incremental_alter_configs as incremental
from kafka_lite.protocol.messages import api_74_list_config_resources as list_config_resources
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.server.apis.admin_apis import AdminApis
from tests.support.counted_names import CountedName, counted_names

TOPIC, BROKER = 2, 4


class Admin:
    """An admin manager in which everything succeeds; keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.options: list[Any] = []
        self.source = ConfigSource.DEFAULT_CONFIG

    def create_topics(self, timeout_ms: int, topics: Any, validate_only: bool, _quota: Any, callback: Any) -> None:
        self.asked, self.options = [topic.name for topic in topics], [timeout_ms, validate_only]
        callback([create_topics.CreatableTopicResult(name=name) for name in self.asked])

    def create_partitions(
        self, timeout_ms: int, topics: Any, validate_only: bool, _quota: Any, callback: Callable[[Any], None]
    ) -> None:
        self.asked, self.options = [topic.name for topic in topics], [timeout_ms, validate_only]
        callback([create_partitions.CreatePartitionsTopicResult(name=name) for name in self.asked])

    def delete_topics(self, timeout_ms: int, names: list[str], _quota: Any, callback: Any) -> None:
        self.asked, self.options = list(names), [timeout_ms]
        callback([delete_topics.DeletableTopicResult(name=name) for name in names])

    def describe_configs(self, resources: Any, **_options: bool) -> list[Any]:
        entry = describe_configs.DescribeConfigsResourceResult(name="k", value="v", config_source=self.source)
        return [
            describe_configs.DescribeConfigsResult(
                resource_type=each.resource_type, resource_name=each.resource_name, configs=[entry]
            )
            for each in resources
        ]

    def resources(self, kind: int) -> list[str]:
        return [f"{kind}-a", f"{kind}-b"]

    def alter_configs(self, resources: Any, validate_only: bool) -> list[Any]:
        self.options = [validate_only]
        return [alter_configs.AlterConfigsResourceResponse(resource_name=each.resource_name) for each in resources]

    def incremental_alter_configs(self, resources: Any, validate_only: bool) -> list[Any]:
        self.options = [validate_only]
        return [incremental.AlterConfigsResourceResponse(resource_name=each.resource_name) for each in resources]


ID_OF_T = UUID(int=9)
TOPIC_NAMES = {ID_OF_T: "t"}


class Apis:
    def __init__(self, is_controller: bool = True, deletion: bool = True) -> None:
        self.admin = Admin()
        config = SimpleNamespace(delete_topic_enable=deletion)
        admin, helper = (
            cast(Any, self.admin),
            SimpleNamespace(
                new_mutation_quota=lambda _request, _version: None, throttle_mutation=lambda _request, _quota: None
            ),
        )
        self.apis = AdminApis(
            cast(Any, config), admin, admin, lambda: is_controller, cast(Any, helper), TOPIC_NAMES.get
        )

    def handle(self, name: str, body: Any, version: int) -> Any:
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        responses: list[Any] = []
        getattr(self.apis, f"handle_{name}")(cast(Any, request), body, responses.append)
        (response,) = responses
        response.encode(version)
        return response

    def create(self, *names: str) -> dict[str, Errors]:
        topics = [create_topics.CreatableTopic(name=name) for name in names]
        body = create_topics.CreateTopicsRequest(topics=topics, timeout_ms=7, validate_only=True)
        return errors(self.handle("create_topics", body, 4).topics)

    def grow(self, *names: str) -> dict[str, Errors]:
        topics = [create_partitions.CreatePartitionsTopic(name=name, count=2) for name in names]
        body = create_partitions.CreatePartitionsRequest(topics=topics, timeout_ms=7, validate_only=True)
        return errors(self.handle("create_partitions", body, 1).results)

    def delete(self, *names: str, version: int = 5) -> dict[str, Errors]:
        body = delete_topics.DeleteTopicsRequest(topic_names=list(names), timeout_ms=7)
        return errors(self.handle("delete_topics", body, version).responses)


def errors(results: Any) -> dict[str, Errors]:
    named = {each.name: Errors.for_code(each.error_code) for each in results}
    assert len(named) == len(results), "a topic has one result"
    return named


def test_topics_are_changed_by_the_controller_only() -> None:
    apis = Apis(is_controller=False)
    for change in (apis.create, apis.grow, apis.delete):
        assert change("t", "u") == {"t": Errors.NOT_CONTROLLER, "u": Errors.NOT_CONTROLLER}
        assert apis.admin.asked == []


def test_a_topic_that_is_named_twice_is_not_changed_but_the_others_are() -> None:
    apis = Apis()
    for change in (apis.create, apis.grow):
        assert change("t", "u", "t") == {"t": Errors.INVALID_REQUEST, "u": Errors.NONE}
        assert (apis.admin.asked, apis.admin.options) == (["u"], [7, True])


def test_a_topic_that_is_named_twice_is_deleted_once() -> None:
    apis = Apis()
    assert apis.delete("t", "u", "t") == {"t": Errors.NONE, "u": Errors.NONE}
    assert (apis.admin.asked, apis.admin.options) == (["t", "u"], [7])


@pytest.mark.parametrize(("version", "told"), [(2, Errors.INVALID_REQUEST), (3, Errors.TOPIC_DELETION_DISABLED)])
def test_topics_are_not_deleted_if_the_broker_does_not_allow_it(version: int, told: Errors) -> None:
    apis = Apis(deletion=False)
    assert apis.delete("t", version=version) == {"t": told}
    assert apis.admin.asked == []


@pytest.mark.parametrize(
    ("name", "topic_id", "told"),
    [
        ("t", 0, Errors.NONE),
        ("t", 5, Errors.INVALID_REQUEST),
        ("t", 9, Errors.INVALID_REQUEST),
        (None, 5, Errors.UNKNOWN_TOPIC_ID),
        (None, 0, Errors.INVALID_REQUEST),
    ],
)
def test_a_topic_that_cannot_be_deleted_as_it_is_given_says_why(name: str | None, topic_id: int, told: Errors) -> None:
    apis = Apis()
    asked = delete_topics.DeleteTopicState(name=name, topic_id=UUID(int=topic_id))
    response = apis.handle("delete_topics", delete_topics.DeleteTopicsRequest(topics=[asked]), 6)
    (result,) = response.responses
    assert (result.name, Errors.for_code(result.error_code)) == (name, told)
    assert result.topic_id.int == (topic_id if told is not Errors.NONE else 0)
    assert apis.admin.asked == ([name] if told is Errors.NONE else [])


def test_a_topic_is_deleted_by_its_id() -> None:
    apis = Apis()
    state = delete_topics.DeleteTopicState
    asked = [state(name=None, topic_id=ID_OF_T), state(name="u"), state(name="t"), state(name=None, topic_id=ID_OF_T)]
    response = apis.handle("delete_topics", delete_topics.DeleteTopicsRequest(topics=asked), 6)
    results = [(result.name, result.topic_id.int, result.error_code) for result in response.responses]
    assert results == [("t", ID_OF_T.int, 0), ("u", 0, 0), ("t", 0, 0)]
    assert apis.admin.asked == ["t", "u"]


@pytest.mark.parametrize(
    ("kind", "source", "is_default"),
    [
        (TOPIC, ConfigSource.TOPIC_CONFIG, False),
        (TOPIC, ConfigSource.STATIC_BROKER_CONFIG, True),
        (TOPIC, ConfigSource.DEFAULT_CONFIG, True),
        (BROKER, ConfigSource.STATIC_BROKER_CONFIG, False),
        (BROKER, ConfigSource.DEFAULT_CONFIG, True),
    ],
)
def test_version_0_tells_only_whether_a_value_is_the_default(kind: int, source: ConfigSource, is_default: bool) -> None:
    apis = Apis()
    apis.admin.source = source
    resource = describe_configs.DescribeConfigsResource(resource_type=kind, resource_name="1")
    body = describe_configs.DescribeConfigsRequest(resources=[resource])
    (result,) = apis.handle("describe_configs", body, 0).results
    assert result.configs[0].is_default is is_default


@pytest.mark.parametrize("validate_only", [True, False])
def test_configurations_are_changed_or_only_validated(validate_only: bool) -> None:
    apis = Apis()
    replaced = alter_configs.AlterConfigsRequest(
        resources=[alter_configs.AlterConfigsResource(resource_type=TOPIC, resource_name="t")],
        validate_only=validate_only,
    )
    changed = incremental.IncrementalAlterConfigsRequest(
        resources=[incremental.AlterConfigsResource(resource_type=TOPIC, resource_name="t")],
        validate_only=validate_only,
    )
    for name, body in [("alter_configs", replaced), ("incremental_alter_configs", changed)]:
        assert [each.resource_name for each in apis.handle(name, body, 0).responses] == ["t"]
        assert apis.admin.options == [validate_only]


@pytest.mark.parametrize("change", ["create", "grow", "delete"])
def test_each_of_many_topics_is_looked_at_a_few_times(change: str) -> None:
    """One look at each of the others would be a million here, and forty thousand million in the largest request."""
    apis, names = Apis(), counted_names(1000)
    CountedName.reset()
    assert len(getattr(apis, change)(*names, *names)) == 1000
    assert CountedName.looks < 40 * 1000


@pytest.mark.parametrize(
    ("version", "asked", "listed"),
    [(0, [], [16, 16]), (1, [2, 32], [32, 32, 2, 2]), (1, [], [32, 32, 16, 16, 8, 8, 4, 4, 2, 2])],
)
def test_resources_are_listed_by_type(version: int, asked: list[int], listed: list[int]) -> None:
    body = list_config_resources.ListConfigResourcesRequest(resource_types=asked)
    answer = Apis().handle("list_config_resources", body, version)
    assert [each.resource_type for each in answer.config_resources] == listed
    assert [each.resource_name for each in answer.config_resources[:2]] == [f"{listed[0]}-a", f"{listed[0]}-b"]


def test_an_unknown_type_refuses_the_whole_request() -> None:
    body = list_config_resources.ListConfigResourcesRequest(resource_types=[2, 3])
    answer = Apis().handle("list_config_resources", body, 1)
    assert (answer.error_code, answer.config_resources) == (Errors.UNSUPPORTED_VERSION.code, [])
