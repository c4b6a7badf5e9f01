"""The flags and the words of kafka-features.sh, over the controller's part in memory."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.controller.feature_control import FeatureControl
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.apis.feature_apis import FeatureApis
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.tools.server import features
from kafka_lite.zookeeper.feature_znode import FeatureStore
from tests.support.fake_zookeeper import Tree, fake_zk


class Channel:
    """An AdminChannel to a broker that is the controller, of a cluster without finalized features."""

    def __init__(self) -> None:
        zk = fake_zk(Tree())
        zk.create_persistent_paths()
        self.finalized = FinalizedFeatures(FeatureStore(zk.zookeeper))
        control = FeatureControl(1, ApiVersion.KAFKA_2_8_IV1, zk, self.finalized)
        control.setup()
        self.apis = FeatureApis(control, lambda: True)
        self.versions = ApiVersionManager(SERVED_VERSIONS, features=self.finalized)

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None: ...

    def send(self, request: Any, _response: type[Any]) -> Any:
        header = RequestHeader(api_key=ApiKey.API_VERSIONS, api_version=4, correlation_id=1)
        return self.versions.response(header, request)

    def send_to_controller(self, request: Any, _response: type[Any], _errors: str) -> Any:
        responses: list[Any] = []
        asked = SimpleNamespace(header=SimpleNamespace(api_version=2))
        self.apis.handle_update_features(cast(Any, asked), request, responses.append)
        return responses[0]


class Tool:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, list[str], str]:
        """The exit code, the lines that it prints, and its error."""
        parser = argparse.ArgumentParser()
        features.add_arguments(parser)
        code = features.run(parser.parse_args(["--bootstrap-server", "b:1", *arguments]))
        out, err = self._capsys.readouterr()
        return code, out.splitlines(), err


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    channel = Channel()
    monkeypatch.setattr(features, "admin_channel", lambda _options: channel)
    return Tool(capsys)


def test_features_are_described_as_kafkas_tool_describes_them(tool: Tool) -> None:
    tool("upgrade", "--feature", "group.version=1")
    assert tool("describe")[1] == [
        f"Feature: {name}\tSupportedMinVersion: 0\tSupportedMaxVersion: {newest}\t"
        f"FinalizedVersionLevel: {level}\tEpoch: 1"
        for name, newest, level in (("group.version", 1, 1), ("share.version", 1, 0), ("transaction.version", 2, 0))
    ]


def test_levels_go_up_and_down(tool: Tool) -> None:
    up = ("upgrade", "--feature", "transaction.version=2", "--feature", "share.version=1")
    assert tool(*up, "--dry-run")[1] == [
        "share.version can be upgraded to 1.",
        "transaction.version can be upgraded to 2.",
    ]
    assert "FinalizedVersionLevel: 1" not in str(tool("describe"))
    assert tool(*up) == (0, ["share.version was upgraded to 1.", "transaction.version was upgraded to 2."], "")
    down = ("downgrade", "--feature", "transaction.version=1")
    assert tool(*down) == (0, ["transaction.version was downgraded to 1."], "")
    assert tool("disable", "--unsafe", "--feature", "share.version") == (0, ["share.version was disabled."], "")
    assert "FinalizedVersionLevel: 1" in str(tool("describe"))


def test_what_belongs_to_a_release_is_looked_up_without_a_broker(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "admin_channel", lambda _options: pytest.fail("a broker was asked"))
    assert tool("version-mapping", "--release-version", "4.0")[1][0] == "metadata.version=25 (4.0)"
    assert tool("version-mapping")[1][0] == "metadata.version=27 (4.1-IV1)"
    both = ("--feature", "group.version=1", "--feature", "share.version=1")
    code, lines, _ = tool("feature-dependencies", *both)
    assert (code, lines) == (0, ["group.version=1 has no dependencies.", "share.version=1 has no dependencies."])
    code, lines, error = tool("feature-dependencies", "--feature", "group.version")
    assert (code, lines) == (1, [])
    assert "equals sign not found" in error


def test_a_refusal_is_printed_for_every_feature(tool: Tool) -> None:
    code, lines, error = tool("upgrade", "--feature", "transaction.version=9", "--feature", "share.version=1")
    reason = (
        "The update failed for all features since the following feature had an error: Invalid update version 9 for "
        "feature transaction.version. Local controller 1 only supports versions 0-2"
    )
    assert code == 1
    assert lines == [
        f"Could not upgrade share.version to 1. {reason}",
        f"Could not upgrade transaction.version to 9. {reason}",
    ]
    assert "2 out of 2 operation(s) failed." in error
    assert tool("disable", "--dry-run", "--feature", "later")[1][0].startswith("Can not disable later. ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("upgrade",), "You must specify at least one feature to upgrade"),
        (("disable",), "You must specify at least one feature to disable"),
        (("upgrade", "--feature", "a"), "Can't parse feature=level string a: equals sign not found."),
        (("upgrade", "--feature", "a=b"), "Can't parse feature=level string a=b: unable to parse b as a short."),
        (("upgrade", "--feature", "a=40000"), "unable to parse 40000 as a short."),
        (("downgrade", "--feature", "a=1", "--feature", "a=0"), "Feature a was specified more than once."),
    ],
)
def test_wrong_arguments_are_named(tool: Tool, arguments: tuple[str, ...], error: str) -> None:
    code, lines, found = tool(*arguments)
    assert (code, lines) == (1, [])
    assert error in found
