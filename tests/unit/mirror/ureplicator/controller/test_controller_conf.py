"""Configurations that cannot work say why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import Whitelisting
from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerConfError

GOOD = ControllerConf("ur", "localhost:2181", 9000, "c1")


def test_a_mirror_of_named_topics_needs_no_cluster_of_kafka() -> None:
    GOOD.check()
    replace(GOOD, whitelisting=Whitelisting(), src_kafka_zk_path="a:1/s", dest_kafka_zk_path="a:1/d").check()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"helix_cluster_name": "a/b"}, "-helixClusterName 'a/b' cannot be the name of a znode"),
        ({"instance_id": ""}, "-instanceId '' cannot"),
        ({"whitelisting": Whitelisting()}, "need -srcKafkaZkPath"),
        ({"enable_src_kafka_validation": True}, "need -srcKafkaZkPath"),
        ({"whitelisting": Whitelisting(), "src_kafka_zk_path": "a:1"}, "needs -destKafkaZkPath"),
        (
            {"whitelisting": Whitelisting("("), "src_kafka_zk_path": "a:1", "dest_kafka_zk_path": "a:1"},
            r"-patternToExcludeTopics \( is no regular expression: missing \)",
        ),
        (
            {"whitelisting": Whitelisting("", 0), "src_kafka_zk_path": "a:1", "dest_kafka_zk_path": "a:1"},
            "-refreshTimeInSeconds must be at least 1",
        ),
    ],
)
def test_what_cannot_work_is_said(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ControllerConfError, match=problem):
        replace(GOOD, **changes).check()  # type: ignore[arg-type]
