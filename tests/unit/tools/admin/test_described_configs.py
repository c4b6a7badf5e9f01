"""The source of a setting, also from brokers that say only whether it is the default."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.tools.admin import configs
from kafka_lite.tools.admin.described_configs import described_configs
from kafka_lite.tools.main import main
from tests.support.scripted_channel import ScriptedChannel, metadata

TOPIC, BROKER = 2, 4
REQUEST = DescribeConfigsRequest(resources=[])


class Channel(ScriptedChannel):
    def connect(self) -> None:
        self.refresh()


def in_version_0(resource_type: int) -> DescribeConfigsResponse:
    entries = [
        DescribeConfigsResourceResult(name="retention.ms", value="5", is_default=False),
        DescribeConfigsResourceResult(name="segment.ms", value="7", is_default=True),
    ]
    result = DescribeConfigsResult(resource_type=resource_type, resource_name="flights", configs=entries)
    sent = DescribeConfigsResponse(results=[result])
    return DescribeConfigsResponse.decode_from(sent.encode(0), 0, 0)[0]


@pytest.mark.parametrize(
    ("resource_type", "own"), [(TOPIC, ConfigSource.TOPIC_CONFIG), (BROKER, ConfigSource.STATIC_BROKER_CONFIG)]
)
def test_a_setting_of_an_old_broker_has_the_only_source_that_there_was(resource_type: int, own: ConfigSource) -> None:
    (result,) = described_configs(ScriptedChannel(in_version_0(resource_type)), REQUEST)
    assert [each.config_source for each in result.configs] == [own, ConfigSource.DEFAULT_CONFIG]


def test_the_source_that_a_broker_names_is_kept() -> None:
    entries = [DescribeConfigsResourceResult(name=str(each), config_source=each) for each in ConfigSource]
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(resource_type=BROKER, configs=entries)])
    (result,) = described_configs(ScriptedChannel(response), REQUEST)
    assert [each.config_source for each in result.configs] == list(ConfigSource)


def test_a_resource_with_an_error_is_an_error() -> None:
    results = [
        DescribeConfigsResult(resource_type=TOPIC),
        DescribeConfigsResult(error_code=Errors.INVALID_REQUEST.code, error_message="so"),
    ]
    with pytest.raises(ApiError, match="so") as raised:
        described_configs(ScriptedChannel(DescribeConfigsResponse(results=results)), REQUEST)
    assert raised.value.error is Errors.INVALID_REQUEST


@pytest.mark.parametrize(
    ("everything", "names"), [([], ["retention.ms=5"]), (["--all"], ["retention.ms=5", "segment.ms=7"])]
)
def test_the_overrides_of_a_topic_of_an_old_broker_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], everything: list[str], names: list[str]
) -> None:
    channel = Channel(metadata(), in_version_0(TOPIC))
    monkeypatch.setattr(configs, "admin_channel", lambda *_, **__: channel)
    arguments = ["--bootstrap-server", "127.0.0.1:1", "--entity-type", "topics", "--entity-name", "flights"]
    assert main(["configs", "--describe", *arguments, *everything]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines == [f"  {name} sensitive=false synonyms={{}}" for name in names]
