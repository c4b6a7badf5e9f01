"""Names of beans, as JMX writes and parses them."""

from __future__ import annotations

import pytest

from kafka_lite.metrics.metric_name import MalformedObjectNameError, MetricName, ObjectNamePattern

BYTES_IN = MetricName.of("kafka.server", "BrokerTopicMetrics", "BytesInPerSec")
BYTES_IN_T = MetricName.of("kafka.server", "BrokerTopicMetrics", "BytesInPerSec", {"topic": "t"})


def test_a_name_has_the_format_of_jmx() -> None:
    assert str(BYTES_IN) == "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec"
    assert str(BYTES_IN_T) == "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=t"
    log = MetricName.of("kafka.log", "Log", "Size", {"topic": "t", "partition": "0"})
    assert str(log) == "kafka.log:type=Log,name=Size,topic=t,partition=0"
    assert str(MetricName.of("kafka.server", "app-info", tags={"id": "0"})) == "kafka.server:type=app-info,id=0"


def test_tags_without_a_value_are_omitted() -> None:
    assert MetricName.of("g", "t", "n", {"topic": "", "a": "1"}).mbean_name == "g:type=t,name=n,a=1"


def test_values_with_special_characters_are_quoted() -> None:
    assert MetricName.of("g", "t", "n", {"broker": "::1"}).mbean_name == 'g:type=t,name=n,broker="::1"'
    name = MetricName.of("g", "t", "n", {"client": 'a"*,b'})
    assert name.mbean_name == r'g:type=t,name=n,client="a\"\*,b"'
    assert dict(ObjectNamePattern.parse(name.mbean_name).properties)["client"] == 'a"*,b'


@pytest.mark.parametrize("value", ['C:\\new"x', "a\\nb:", "a\nb", "a\\\n:", "\\", '\\"', "a*b", "a?b", "\\*", "*"])
def test_the_name_of_a_bean_matches_as_a_pattern(value: str) -> None:
    name = MetricName.of("g", "t", "n", {"client": value})
    parsed = ObjectNamePattern.parse(name.mbean_name)
    assert dict(parsed.properties)["client"] == value
    assert parsed.matches(name)


def test_an_escaped_wildcard_in_quotation_marks_is_literal() -> None:
    names = [MetricName.of("g", "t", "n", {"client": client}) for client in ("a:*", "a:b", "a:?")]

    def matched(client: str) -> list[bool]:
        pattern = ObjectNamePattern.parse(f"g:type=t,name=n,client={client}")
        return [pattern.matches(name) for name in names]

    assert matched(r'"a:\*"') == [True, False, False]
    assert matched(r'"a:\?"') == [False, False, True]
    assert matched('"a:*"') == matched('"a:?"') == [True, True, True]


@pytest.mark.parametrize(
    ("pattern", "total", "topic"),
    [
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec", True, False),
        ("kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics", True, False),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=t", False, True),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*", False, True),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=?", False, True),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=u*", False, False),
        ("kafka.server:type=BrokerTopicMetrics,*", True, True),
        ("kafka.server:*", True, True),
        ("*:*", True, True),
        ("kafka.*:type=Broker*,*", True, True),
        ("kafka.log:*", False, False),
        ("kafka.server:type=BrokerTopicMetrics", False, False),
    ],
)
def test_patterns_with_wildcards(pattern: str, total: bool, topic: bool) -> None:
    parsed = ObjectNamePattern.parse(pattern)
    assert parsed.matches(BYTES_IN) is total
    assert parsed.matches(BYTES_IN_T) is topic


@pytest.mark.parametrize(
    "text", ["", "kafka.server", "kafka.server:", "kafka.server:type", "a:=b", "a:b=", "a:type=x,y"]
)
def test_malformed_names_are_rejected(text: str) -> None:
    with pytest.raises(MalformedObjectNameError):
        ObjectNamePattern.parse(text)
