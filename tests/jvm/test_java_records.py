"""The record classes of the Java client 3.9.1 read and write the same as ours, in every format and codec."""

from __future__ import annotations

import random

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches, records
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = """
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.*;

/** Reads batches (hex, one set a line) and prints their records, or prints batches of given records. */
public class JavaRecords {
    static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (args[0].equals("read")) read(line); else write(line);
        }
    }

    static void read(String line) {
        MemoryRecords set = MemoryRecords.readableRecords(ByteBuffer.wrap(HEX.parseHex(line)));
        StringJoiner out = new StringJoiner(" ");
        for (RecordBatch batch : set.batches()) {
            batch.ensureValid();
            for (org.apache.kafka.common.record.Record record : batch) {
                record.ensureValid();
                StringJoiner headers = new StringJoiner(";");
                for (Header header : record.headers())
                    headers.add(header.key() + "=" + (header.value() == null ? "null" : HEX.formatHex(header.value())));
                out.add(String.join(",", "" + batch.magic(), batch.compressionType().name, batch.timestampType().name,
                    "" + batch.isControlBatch(), "" + record.offset(), "" + record.timestamp(),
                    hex(record.hasKey(), record.key()), hex(record.hasValue(), record.value()), headers.toString()));
            }
        }
        System.out.println(out);
    }

    static String hex(boolean present, ByteBuffer buffer) {
        if (!present) return "null";
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return HEX.formatHex(bytes);
    }

    /** magic codec timestampType baseOffset, then timestamp:key:value:header of each record. */
    static void write(String line) {
        String[] words = line.split(" ");
        byte magic = Byte.parseByte(words[0]);
        Compression codec = Compression.of(CompressionType.forName(words[1])).build();
        TimestampType type = words[2].equals("CreateTime") ? TimestampType.CREATE_TIME : TimestampType.LOG_APPEND_TIME;
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(1024), magic, codec, type, Long.parseLong(words[3]), 777L);
        for (int i = 4; i < words.length; i++) {
            String[] parts = words[i].split(":", -1);
            Header[] headers = parts[3].isEmpty() ? new Header[0]
                : new Header[] {new RecordHeader(parts[3], parts[3].getBytes(StandardCharsets.UTF_8))};
            builder.append(Long.parseLong(parts[0]), bytes(parts[1]), bytes(parts[2]), headers);
        }
        ByteBuffer built = builder.build().buffer();
        byte[] bytes = new byte[built.remaining()];
        built.get(bytes);
        System.out.println(HEX.formatHex(bytes));
    }

    static byte[] bytes(String text) {
        return text.equals("null") ? null : HEX.parseHex(text);
    }
}
"""

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec.name != "ZSTD"]
NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}
CONTENT = [
    (1_700_000_000_000, b"key", b"value" * 30_000),  # more than one block of snappy and of lz4
    (1_700_000_000_100, None, random.Random(3).randbytes(1000)),
    (1_699_999_999_000, b"tombstone", None),
    (1_700_000_000_050, b"", b""),
]


def java(mode: str, lines: list[str]) -> list[str]:
    jars = classpath("org.apache.kafka:kafka-clients:3.9.1")
    done = run_java("JavaRecords", mode, classpath=[compile_java(SOURCE, jars), *jars], stdin="\n".join(lines) + "\n")
    return done.stdout.splitlines()


def as_java_prints(data: bytes) -> str:
    """What the Java program should print for a set, according to our own decoder."""
    words = []
    for batch in batches(data):
        kind = NAMES.get(batch.timestamp_type, "NoTimestampType")
        for record in batch.records():
            headers = ";".join(f"{key}={'null' if value is None else value.hex()}" for key, value in record.headers)
            key, value = ("null" if field is None else field.hex() for field in (record.key, record.value))
            control = str(batch.is_control).lower()
            where = f"{batch.magic},{batch.compression.codec_name},{kind},{control},{record.offset},{record.timestamp}"
            words.append(f"{where},{key},{value},{headers}")
    return " ".join(words)


def ours(magic: int, codec: CompressionType, timestamp_type: TimestampType = TimestampType.CREATE_TIME) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, timestamp_type, base_offset=1000, log_append_time_ms=777)
    for timestamp, key, value in CONTENT:
        builder.append(timestamp, key, value, [("h", b"h")] if magic == 2 else ())
    return builder.build()


def test_java_reads_our_records() -> None:
    sets = [ours(magic, codec, kind) for magic, codec in FORMATS for kind in NAMES]
    sets += [
        down_convert(ours(2, codec), magic) for codec in CompressionType if codec.name != "ZSTD" for magic in (0, 1)
    ]
    holes = MemoryRecordsBuilder(
        base_offset=50, producer_id=7, producer_epoch=1, base_sequence=0, is_transactional=True
    )
    holes.append(5, b"k", b"v", offset=53)
    sets.append(holes.build(last_offset=60))
    sets += [
        EndTransactionMarker(kind, 9).to_batch(7, 1, 6, base_offset=61)
        for kind in (ControlRecordType.ABORT, ControlRecordType.COMMIT)
    ]
    assert java("read", [data.hex() for data in sets]) == [as_java_prints(data) for data in sets]


def test_we_read_java_records() -> None:
    wanted = [(magic, codec, kind) for magic, codec in FORMATS for kind in NAMES]
    lines = [
        " ".join(
            [str(magic), codec.codec_name, NAMES[kind], "1000"]
            + [
                f"{timestamp if magic else -1}:{_hex(key)}:{_hex(value)}:{'h' if magic == 2 else ''}"
                for timestamp, key, value in CONTENT
            ]
        )
        for magic, codec, kind in wanted
    ]
    for (magic, codec, kind), line in zip(wanted, java("write", lines), strict=True):
        data = bytes.fromhex(line)
        assert all(batch.is_valid() for batch in batches(data))
        assert as_java_prints(data) == as_java_prints(ours(magic, codec, kind))
        assert len(list(records(data))) == len(CONTENT)
        if codec is CompressionType.NONE:  # compressors may differ in the matches they find
            assert data == ours(magic, codec, kind)


def _hex(field: bytes | None) -> str:
    return "null" if field is None else field.hex()
