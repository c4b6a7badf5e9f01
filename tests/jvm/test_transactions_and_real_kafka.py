"""Our transactional producer and ``kafka-lite transactions`` with Kafka 3.9.1."""

from __future__ import annotations

import pytest

from kafka_lite.producer import ProducerFencedError
from tests.support.kafka_tools import KafkaTools, our_tool, words
from tests.support.real_kafka import create_topics
from tests.support.transaction_contract import TransactionContract
from tests.support.transactional_producers import PARTITIONS, new_name, read, send, transactional

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def kafka(real_kafka_3_9: str) -> str:
    return real_kafka_3_9


class TestOnKafka(TransactionContract):
    """Commit, abort, fencing, exactly once, as librdkafka and ours read it."""


def test_the_transactions_tool_prints_what_kafkas_prints(kafka: str) -> None:
    name, topic = new_name("id"), new_name("transactions")
    create_topics(kafka, [topic], PARTITIONS, {})
    producer = transactional(kafka, name, transaction_timeout_ms=600_000)  # open for all tools, however slow
    producer.begin_transaction()
    send(producer, topic, [b"open"], partition=1)
    producer.flush()
    of_partition = ("--topic", topic, "--partition", "1")
    with KafkaTools("3.9.1", with_errors=True) as kafkas:
        for arguments in (
            ("list",), ("describe-producers", *of_partition), ("describe-producers", *of_partition, "--broker-id", "0"),
            ("find-hanging", "--topic", topic), ("find-hanging", "--broker-id", "0", "--max-transaction-timeout", "0"),
        ):  # fmt: skip
            command = ("--bootstrap-server", kafka, *arguments)
            ours = our_tool("transactions", *command)
            theirs = kafkas.run("org.apache.kafka.tools.TransactionsCommand", *command)
            assert words(ours.output) == words(theirs.output), arguments
        described = our_tool("transactions", "--bootstrap-server", kafka, "describe", "--transactional-id", name)
        theirs = kafkas.run(
            "org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", kafka, "describe",
            "--transactional-id", name,
        )  # fmt: skip
    for ours_line, their_line in zip(described.output.splitlines(), theirs.output.splitlines(), strict=True):
        fields, expected = ours_line.split("\t"), their_line.split("\t")
        assert [*fields[:7], *fields[8:]] == [*expected[:7], *expected[8:]], "all but how long it is open by now"
    seen = our_tool("top", "--transactions", "--once", "--bootstrap-server", kafka).output
    (row,) = [cells for cells in map(str.split, seen.splitlines()) if cells[:1] == [name]]
    assert (row[1], row[-1]) == ("Ongoing", f"{topic}-1")
    tool = ("transactions", "--bootstrap-server", kafka)
    assert "Could not find any open" in our_tool(*tool, "abort", *of_partition, "--start-offset", "7").output
    assert our_tool(*tool, "abort", *of_partition, "--start-offset", "0") == (0, "")
    assert " None" in our_tool(*tool, "describe-producers", *of_partition).output.replace("\t", " ")
    assert our_tool(*tool, "force-terminate", "--transactional-id", name) == (0, "")
    assert our_tool(*tool, "force-terminate", "--transactional-id", new_name("unknown")).code == 1
    with pytest.raises(ProducerFencedError):
        producer.commit_transaction()
    producer.close()
    assert read(kafka, topic, "read_committed") == []
