"""Kafka 3.9.1's own LogValidator compared with ours: the same sets, the same verdicts, the same bytes."""

from __future__ import annotations

import itertools
import random
import struct

import pytest
from crc32c import crc32c

from kafka_lite.common.errors import ApiError
from kafka_lite.log.validation.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.message_set import encode_message
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = """
import java.io.*;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.*;

/** A line: set in hex, magic, codec, timestamp type, compacted, before ms, after ms, now ms, first offset, epoch. */
public class JavaLogValidator {
    static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String verdict;
            try {
                verdict = validate(line.split(" "));
            } catch (RecordValidationException e) {
                verdict = "error " + Errors.forException(e.invalidException()).name();
            } catch (Exception e) {
                String name = e.getClass().getSimpleName();
                verdict = "error " + (e instanceof ApiException ? Errors.forException(e).name() : name);
            }
            System.out.println(verdict);
        }
    }

    static String validate(String[] words) {
        MemoryRecords set = MemoryRecords.readableRecords(ByteBuffer.wrap(HEX.parseHex(words[0])));
        CompressionType source = CompressionType.NONE;
        for (RecordBatch batch : set.batches()) {  // as UnifiedLog.analyzeAndValidateRecords does before
            batch.ensureValid();
            if (batch.compressionType() != CompressionType.NONE) source = batch.compressionType();
        }
        CompressionType target = words[2].equals("producer") ? source : CompressionType.forName(words[2]);
        TimestampType type = words[3].equals("CreateTime") ? TimestampType.CREATE_TIME : TimestampType.LOG_APPEND_TIME;
        Time time = standingStill(Long.parseLong(words[7]));
        PrimitiveRef.LongRef offset = PrimitiveRef.ofLong(Long.parseLong(words[8]));
        LogValidator.ValidationResult result = new LogValidator(set, new TopicPartition("t", 0), time, source,
            Compression.of(target).build(), Boolean.parseBoolean(words[4]), Byte.parseByte(words[1]), type,
            Long.parseLong(words[5]), Long.parseLong(words[6]), Integer.parseInt(words[9]), AppendOrigin.CLIENT,
            MetadataVersion.latestTesting()
        ).validateMessagesAndAssignOffsets(offset, new NoMetrics(), BufferSupplier.create());
        ByteBuffer buffer = result.validatedRecords.buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return String.join(" ", "ok", "" + (offset.value - 1), "" + result.maxTimestampMs, HEX.formatHex(bytes));
    }

    static Time standingStill(long now) {
        return (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, args) -> method.getName().equals("milliseconds") ? now : System.nanoTime());
    }

    static class NoMetrics implements LogValidator.MetricsRecorder {
        public void recordInvalidMagic() { }
        public void recordInvalidOffset() { }
        public void recordInvalidSequence() { }
        public void recordInvalidChecksums() { }
        public void recordNoKeyCompactedTopic() { }
    }
}
"""

NOW = 1_700_000_000_000
FAR = 2**63 - 1
NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}
NONE, GZIP, LZ4 = CompressionType.NONE, CompressionType.GZIP, CompressionType.LZ4
FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in (NONE, GZIP, LZ4)]

Case = tuple[bytes, int, CompressionType | None, TimestampType, bool, int, int]
"""A produced set; the log's magic, codec, timestamp type; compacted; how far timestamps may lie before and after."""


def three(magic: int, codec: CompressionType, **producer: int) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, **producer)  # type: ignore[arg-type]
    for index, timestamp in enumerate((NOW - 30, NOW - 10, NOW - 20)):
        headers = [("h", b"1")] if magic == 2 and index == 1 else ()
        builder.append(timestamp, b"k%d" % index if index else None, b"v%d" % index, headers)
    return builder.build()


def by_java(cases: list[Case]) -> list[str]:
    lines = [
        f"{data.hex()} {magic} {codec.codec_name if codec else 'producer'} {NAMES[kind]} {str(compacted).lower()} "
        f"{before} {after} {NOW} 100 5"
        for data, magic, codec, kind, compacted, before, after in cases
    ]
    jars = classpath("org.apache.kafka:kafka-storage:3.9.1")
    compiled = compile_java(SOURCE, jars)
    return run_java("JavaLogValidator", classpath=[compiled, *jars], stdin="\n".join(lines) + "\n").stdout.splitlines()


def by_us(case: Case) -> str:
    data, magic, codec, kind, compacted, before, after = case
    try:
        result = validate_and_assign_offsets(
            data,
            offset=100,
            now_ms=NOW,
            target_codec=codec,
            compacted_topic=compacted,
            magic=magic,
            timestamp_type=kind,
            timestamp_difference_max_ms=before,
            timestamp_after_max_ms=after,
            partition_leader_epoch=5,
        )
    except ApiError as error:
        return f"error {error.error.name}"
    return f"ok {result.last_offset} {result.max_timestamp} {bytes(result.records).hex()}"


def decoded(verdict: str) -> object:
    """A verdict without the compressed bytes, in which compressors may differ."""
    kind, *rest = verdict.split(" ")
    if kind == "error":
        return verdict
    last_offset, _, written = rest
    found = [
        (
            (batch.magic, batch.compression, batch.timestamp_type, batch.base_offset, batch.last_offset),
            (batch.max_timestamp, batch.partition_leader_epoch, batch.producer_id, batch.base_sequence),
            [tuple(record) for record in batch.records()] if batch.is_valid() else "not valid",
        )
        for batch in batches(bytes.fromhex(written))
    ]
    # Kafka also returns a maximum timestamp, which is left out: for a stamped set of v0 it is not that of v0.
    return last_offset, found


def test_every_format_is_converted_to_every_format_as_by_kafka() -> None:
    cases: list[Case] = [
        (three(*source), magic, codec, kind, False, FAR, FAR)
        for source, (magic, codec), kind in itertools.product(FORMATS, FORMATS, NAMES)
    ]
    for case, java in zip(cases, by_java(cases), strict=True):
        mine = by_us(case)
        if java == "error IllegalArgumentException":  # headers that an old format lacks: Kafka does not handle them
            assert mine == "error UNSUPPORTED_FOR_MESSAGE_FORMAT"
            continue
        assert decoded(mine) == decoded(java), case[1:]
        if case[2] is NONE:
            assert mine.split()[-1] == java.split()[-1], case[1:]  # exactly these bytes


def test_invalid_sets_get_the_same_verdict() -> None:
    inner = b"".join(encode_message(1, 0, 0, NOW, b"k", b"v%d" % index) for index in range(3))
    zeros = encode_message(1, 0, GZIP.code, NOW, None, compress(GZIP, inner, 1))
    producer = three(2, NONE, producer_id=4, producer_epoch=0, base_sequence=9)
    create, stamp = TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME
    cases: list[Case] = [
        *((three(*source), source[0], None, create, True, FAR, FAR) for source in FORMATS),  # a null key, compacted
        *((three(*source), source[0], None, create, False, 15, FAR) for source in FORMATS),  # too old
        *((three(*source), source[0], None, stamp, False, 15, 15) for source in FORMATS),
        (zeros, 1, None, create, False, FAR, FAR),
        (zeros, 2, None, create, False, FAR, FAR),
        (producer, 2, GZIP, create, False, FAR, FAR),
        (producer, 1, None, create, False, FAR, FAR),
        (three(2, NONE, producer_id=4, producer_epoch=0), 2, None, create, False, FAR, FAR),  # without a sequence
        (three(2, NONE) * 2, 2, None, create, False, FAR, FAR),
        (three(1, NONE) * 2, 1, None, create, False, FAR, FAR),
        (three(1, NONE) + three(0, NONE), 1, None, create, False, FAR, FAR),
        (three(1, NONE)[:-1], 1, None, create, False, FAR, FAR),
    ]
    for case, java in zip(cases, by_java(cases), strict=True):
        assert decoded(by_us(case)) == decoded(java), case


def test_deliberate_differences_from_current_kafka() -> None:
    rules = (1, None, TimestampType.CREATE_TIME, False, FAR, FAR)
    several, zstd = (three(1, GZIP) * 2, *rules), (three(2, CompressionType.ZSTD), *rules)
    assert by_java([several, zstd]) == ["error INVALID_RECORD", "error IllegalArgumentException"]
    # Kafka accepted several sets until 2.3, and clients of that time send them; they become one set.
    assert [(batch.compression, batch.last_offset) for batch in batches(bytes.fromhex(by_us(several).split()[-1]))] == [
        (GZIP, 105)
    ]
    assert by_us(zstd) == "error UNSUPPORTED_COMPRESSION_TYPE"


def test_corrupt_records_are_rejected_as_by_kafka() -> None:
    """Randomly changed bytes of a v2 batch, with a corrected checksum."""
    batches_changed = changed_batches(3000)
    verdicts = by_java([as_produced(batch, NONE) for batch in batches_changed])
    for batch, java in zip(batches_changed, verdicts, strict=True):
        mine = by_us(as_produced(batch, NONE))
        assert mine.split()[:2] == java.split()[:2], batch.hex()


def test_corrupt_compressed_records_are_rejected_like_uncompressed_ones() -> None:
    """Kafka skims compressed records: it accepts wrong lengths, and fails at offsets out of order."""
    verdicts = []
    for batch in changed_batches(1500):
        plain, compressed = by_us(as_produced(batch, NONE)), by_us(as_produced(batch, GZIP))
        assert plain.split()[:2] == compressed.split()[:2], batch.hex()
        verdicts.append(compressed)
    java = by_java([as_produced(batch, GZIP) for batch in changed_batches(1500)])
    stricter = sum(
        mine.startswith("error") and theirs.startswith("ok") for mine, theirs in zip(verdicts, java, strict=True)
    )
    assert {
        theirs
        for mine, theirs in zip(verdicts, java, strict=True)
        if mine.startswith("ok") and theirs.startswith("error")
    } <= {"error UnsupportedOperationException"}
    assert 0 < stricter < 200


def changed_batches(count: int) -> list[bytes]:
    randomly = random.Random(11)
    plain = three(2, NONE)
    found = []
    for _ in range(count):
        batch = bytearray(plain)
        for _ in range(randomly.randint(1, 2)):
            byte = randomly.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF, randomly.randrange(256)])
            batch[randomly.randrange(23, len(batch))] = byte  # after the attributes
        found.append(bytes(batch))
    return found


def as_produced(batch: bytes, codec: CompressionType) -> Case:
    produced = bytearray(batch)
    if codec is not NONE:
        produced[61:] = compress(codec, batch[61:], 2)
        produced[22] = codec.code
        struct.pack_into(">i", produced, 8, len(produced) - 12)
    struct.pack_into(">I", produced, 17, crc32c(produced[21:]))
    return bytes(produced), 2, None, TimestampType.CREATE_TIME, False, FAR, FAR
