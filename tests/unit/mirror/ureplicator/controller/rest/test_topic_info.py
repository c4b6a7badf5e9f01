"""Bodies of requests about topics."""

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.mirror.ureplicator.controller.rest.topic_info import TopicInfo


@pytest.mark.parametrize("number", ['"8"', "8"])
def test_the_number_may_be_a_text(number: str) -> None:
    info = TopicInfo.parse(b'{"topic":"t","numPartitions":%s,"more":[1]}' % number.encode())
    assert (info, str(info)) == (TopicInfo("t", 8), "{topic: t, partition: 8}")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "missing field: topic"),
        (b'{"numPartitions":1}', "missing field: topic"),
        (b'{"topic":"t"}', "missing field: numPartitions"),
        (b'{"topic":7,"numPartitions":1}', "topic is not a text"),
        (b'{"topic":"a/b","numPartitions":1}', "a/b"),
        (b'{"topic":"t","numPartitions":0}', "from 1 to 100000"),
        (b'{"topic":"t","numPartitions":-1}', "from 1 to 100000"),
        (b'{"topic":"t","numPartitions":1.5}', "from 1 to 100000"),
        (b'{"topic":"t","numPartitions":true}', "from 1 to 100000"),
        (b'{"topic":"t","numPartitions":100001}', "from 1 to 100000"),
        (b'{"topic":"t","numPartitions":"' + b"9" * 5000 + b'"}', "from 1 to 100000"),
    ],
)
def test_other_bodies_are_refused(body: bytes, problem: str) -> None:
    with pytest.raises(KafkaError, match=problem):
        TopicInfo.parse(body)
