"""The console share consumer without a broker: its options, and the fate of each message."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any, cast

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.record.record import TimestampType
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console import console_share_consumer as tool

BROKER = ["--bootstrap-server", "b:9092", "--topic", "t"]
ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    tool.add_arguments(parser)
    return parser.parse_args([*BROKER, *arguments])


def record(offset: int, value: bytes) -> ConsumerRecord:
    return ConsumerRecord("t", 0, offset, 0, TimestampType.CREATE_TIME, None, value)


class FakeConsumer:
    """Delivers records, then nothing."""

    def __init__(self, time: MockTime, *values: bytes) -> None:
        self.time = time
        self.left = [record(offset, value) for offset, value in enumerate(values)]
        self.acknowledged: list[tuple[int, AcknowledgeType]] = []
        self.calls: list[str] = []

    def subscribe(self, topics: list[str]) -> None:
        assert topics == ["t"]

    def poll(self, timeout_ms: float) -> list[ConsumerRecord]:
        if not self.left:
            self.time.sleep(timeout_ms)
        polled, self.left = self.left[:2], self.left[2:]
        return polled

    def acknowledge(self, each: ConsumerRecord, kind: AcknowledgeType) -> None:
        self.acknowledged.append((each.offset, kind))

    def close(self) -> None:
        self.calls.append("close")

    def wakeup(self) -> None:
        self.calls.append("wakeup")

    def commit_sync(self) -> None:
        self.calls.append("commit")


class Formatter:
    """Refuses one value."""

    def write_to(self, each: ConsumerRecord, output: io.BytesIO) -> None:
        if each.value == b"bad":
            raise KafkaError("bad")
        output.write(cast(bytes, each.value))


def consume(*arguments: str, values: tuple[bytes, ...] = (b"a", b"b", b"c")) -> tuple[FakeConsumer, bytes]:
    time = MockTime()
    consumer = FakeConsumer(time, *values)
    options = parse("--max-messages", str(len(values)), *arguments)
    wrapper = tool.ShareConsumerWrapper(cast(Any, consumer), "t", 100, time)
    output = io.BytesIO()
    tool.ShareConsumption(wrapper, cast(Any, Formatter()), options).process(output)
    return consumer, output.getvalue()


@pytest.mark.parametrize(("flags", "fate"), [((), ACCEPT), (("--release",), RELEASE), (("--reject",), REJECT)])
def test_each_message_that_was_printed_is_acknowledged(flags: tuple[str, ...], fate: AcknowledgeType) -> None:
    consumer, printed = consume(*flags)
    assert printed == b"abc"
    assert consumer.acknowledged == [(0, fate), (1, fate), (2, fate)]


def test_a_message_that_cannot_be_printed_ends_it_or_is_rejected() -> None:
    with pytest.raises(KafkaError, match="bad"):
        consume(values=(b"a", b"bad"))
    consumer, printed = consume("--reject-message-on-error", values=(b"a", b"bad", b"c"))
    assert printed == b"ac"
    assert consumer.acknowledged == [(0, ACCEPT), (1, REJECT), (2, ACCEPT)]


def test_it_waits_as_long_as_it_is_told() -> None:
    time = MockTime()
    wrapper = tool.ShareConsumerWrapper(cast(Any, FakeConsumer(time)), "t", 2_500, time)
    with pytest.raises(ConsumerTimeoutError, match="2500"):
        wrapper.receive()


def test_the_end_is_passed_on() -> None:
    consumer = FakeConsumer(MockTime())
    wrapper = tool.ShareConsumerWrapper(cast(Any, consumer), "t")
    wrapper.commit()
    wrapper.stop()
    wrapper.cleanup()
    assert consumer.calls == ["commit", "wakeup", "close"]


def test_a_group_is_named_once(tmp_path: Path) -> None:
    assert tool.consumer_configs(parse())["group.id"] == "console-share-consumer"
    configs = tool.consumer_configs(parse("--group", "g", "--consumer-property", "group.id=g"))
    assert (configs["group.id"], configs["share.acknowledgement.mode"]) == ("g", "explicit")
    file = tmp_path / "consumer.properties"
    file.write_text("group.id=other", encoding="utf-8")
    with pytest.raises(ToolError, match="do not match"):
        tool.consumer_configs(parse("--group", "g", "--consumer-config", str(file)))


def test_a_message_is_not_released_and_rejected() -> None:
    with pytest.raises(SystemExit):
        parse("--release", "--reject")
