"""The names that topics have in the target."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.ureplicator.worker.topic_mappings import TopicMappingHandler, parse_topic_mappings
from tests.support.mirrors import a_record


def test_a_line_has_two_words(caplog: pytest.LogCaptureFixture) -> None:
    assert parse_topic_mappings(["a b", "", "  c\td ", "lonely", "one two three"]) == {"a": "b", "c": "d"}
    assert "Invalid mapping 'lonely'" in caplog.text
    assert "Invalid mapping 'one two three'" in caplog.text


@pytest.mark.parametrize(("mappings", "topic"), [({"t": "mirrored"}, "mirrored"), ({"u": "mirrored"}, "t"), ({}, "t")])
def test_only_the_topic_changes(mappings: dict[str, str], topic: str) -> None:
    (sent,) = TopicMappingHandler(mappings).handle(a_record(3, key=b"k"))
    assert (sent.topic, sent.partition, sent.key, sent.value, sent.timestamp) == (topic, None, b"k", b"3", 1003)
