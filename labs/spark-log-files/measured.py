"""What is measured: the decoder of log files, without Spark."""

import io

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from pipeline.tables.log_files import ENTRY, parse_index, read_headers

SHOWN = "decode the headers of 500 batches, and an index of 1,000 entries"
SHOWN_ZH = "解码 500 个批的头部，以及 1,000 个条目的索引"
ROUNDS = 400


def prepare(_folder):
    log = b""
    for offset in range(0, 1500, 3):
        codec = CompressionType.GZIP if offset % 2 else CompressionType.NONE
        builder = MemoryRecordsBuilder(2, codec, base_offset=offset)
        for number in range(3):
            builder.append(1000 + offset + number, None, b"value")
        log += builder.build()
    index = b"".join(ENTRY.pack(number, number * 100) for number in range(1, 1001)) + bytes(80)

    def one_round(_number):
        headers = list(read_headers(io.BytesIO(log), len(log)))
        entries = parse_index(index, 5000)
        return len(headers), sum(each.record_count for each in headers), tuple(headers[-1]), len(entries), entries[-1]

    return one_round
