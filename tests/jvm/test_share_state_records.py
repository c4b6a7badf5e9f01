"""The records of ``__share_group_state``: Kafka 4.1 writes the bytes that we write, and reads them."""

from __future__ import annotations

import random

import pytest

from kafka_lite.protocol.messages import share_state_records as records
from kafka_lite.protocol.version_prefixed import encode_with_version
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.messages import random_message

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

SOURCE = """
import java.util.HexFormat;
import java.nio.ByteBuffer;
import java.util.Scanner;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;

public final class ShareStateRecords {
    public static void main(String[] arguments) {
        ShareCoordinatorRecordSerde serde = new ShareCoordinatorRecordSerde();
        Scanner lines = new Scanner(System.in);
        while (lines.hasNext()) {
            ByteBuffer key = ByteBuffer.wrap(HexFormat.of().parseHex(lines.next()));
            String value = lines.next();
            ByteBuffer bytes = value.equals("null") ? null : ByteBuffer.wrap(HexFormat.of().parseHex(value));
            CoordinatorRecord read = serde.deserialize(key, bytes);
            byte[] written = serde.serializeValue(read);
            System.out.println(HexFormat.of().formatHex(serde.serializeKey(read)) + " "
                + (written == null ? "null" : HexFormat.of().formatHex(written)));
        }
    }
}
"""
JARS = ("kafka-share-coordinator", "kafka-coordinator-common", "kafka-server-common", "kafka-clients")


def test_kafka_reads_and_writes_the_bytes_of_our_records() -> None:
    rng = random.Random(932)
    pairs = [
        (encode_with_version(key, version), encode_with_version(value, 0))
        for _ in range(50)
        for key, version, value in [
            (random_message(records.ShareSnapshotKey, 0, rng), 0, random_message(records.ShareSnapshotValue, 0, rng)),
            (random_message(records.ShareUpdateKey, 1, rng), 1, random_message(records.ShareUpdateValue, 0, rng)),
        ]
    ]
    lines = [f"{key.hex()} {value.hex()}" for key, value in pairs] + [f"{pairs[0][0].hex()} null"]
    jars = classpath(*(f"org.apache.kafka:{jar}:4.1.0" for jar in JARS))
    classes = compile_java(SOURCE, jars)
    done = run_java("ShareStateRecords", classpath=[classes, *jars], stdin="".join(f"{line}\n" for line in lines))
    assert done.stdout.splitlines() == lines
