"""The data of /feature, and writes that another controller was faster with."""

from __future__ import annotations

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.fake_zookeeper import Tree, fake_zk

ON = FeatureStatus.ENABLED


@pytest.mark.parametrize(
    ("protocol", "written"),
    [
        ("3.0", b'{"features":{"a":{"max_version_level":2,"min_version_level":2}},"version":1,"status":1}'),
        ("3.3", b'{"features":{"a":{"max_version_level":2}},"version":2,"status":1}'),
    ],
)
def test_the_node_is_written_as_kafka_of_that_version_does(protocol: str, written: bytes) -> None:
    node = FeatureZNode.of(ApiVersion.parse(protocol), ON, {"a": 2, "off": 0})
    assert node.encode() == written
    assert FeatureZNode.decode(written) == node


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"{}",
        b'{"version":3,"status":1,"features":{}}',
        b'{"version":2,"status":2,"features":{}}',
        b'{"version":2,"status":true,"features":{}}',
        b'{"version":2,"status":1,"features":[]}',
        b'{"version":2,"status":1,"features":{"a":1}}',
        b'{"version":2,"status":1,"features":{"a":{"max_version_level":0}}}',
        b'{"version":2,"status":1,"features":{"a":{"max_version_level":40000}}}',
    ],
)
def test_what_kafka_would_not_have_written_is_an_error(data: bytes | None) -> None:
    with pytest.raises(ZnodeDataError):
        FeatureZNode.decode(data)


def test_a_write_needs_the_version_that_was_read() -> None:
    store = FeatureStore(fake_zk(Tree()).zookeeper)
    assert store.read() == (None, -1)
    assert not store.write(FeatureZNode(ON, {"a": 1}), 0), "there is none"
    assert store.write(FeatureZNode(ON, {"a": 1}), -1)
    assert not store.write(FeatureZNode(ON, {"a": 9}), -1), "there is one"
    assert store.write(FeatureZNode(ON, {"a": 2}), 0)
    assert not store.write(FeatureZNode(ON, {"a": 3}), 0), "another controller was faster"
    assert store.read() == (FeatureZNode(ON, {"a": 2}), 1)
