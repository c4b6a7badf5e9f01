"""What is measured: a segment is filled, read and emptied again."""

from kafka_lite.common.time import MockTime
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

SHOWN = "append 100 batches of a kilobyte, read from 20 offsets, and truncate to the beginning"
SHOWN_ZH = "追加 100 个一千字节的批，从 20 个偏移量开始读，再截断到开头"
ROUNDS = 300


def batch(offset):
    builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset)
    for number in range(10):
        builder.append(1000 + offset + number, None, b"x" * 90)
    return builder.build()


def prepare(folder):
    segment = LogSegment.open(folder, 0, LogConfig({"segment.index.bytes": "4096"}), MockTime())
    appends = [(analyze_and_validate_records(each), each) for each in map(batch, range(0, 1000, 10))]

    def one_round(_number):
        for info, records in appends:
            segment.append(info, records)
        found = []
        for offset in range(7, 1000, 50):
            data = segment.read(offset, 5000)
            found.append((data.fetch_offset_metadata.relative_position_in_segment, data.records.size_in_bytes))
        entries = (segment.offset_index.entries, segment.time_index.entries)
        return found, entries, segment.read_next_offset(), segment.truncate_to(0), segment.size

    return one_round
