"""The answers to the predictions of the notebook on timestamps, from the broker's own logs and rules. Book 10.2."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chapters.ch10_advanced.figures.timestamp_drawings import HOUR_MS, NOON, appended, open_hourly_log, sent
from kafka_learn.check import Prediction, Words
from kafka_lite.common.errors import ApiError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_retention import deletable_segments
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, MAGIC_V2
from kafka_lite.record.records import records

ARRIVALS = ((1, 4, 2, 6), (5, 3, 10, 9))
"""The timestamps of records in the order of their offsets, by segment; hours here, in the notebook minutes."""
SEGMENTS = ((0, 2, 4), (5, 70, 8), (9, 10, 12), (14, 15, 16))
"""The hours of four segments, of which one has a message of a wrong clock."""
RETENTION_H = 24
LOOKED_AT_H = 48
WEEK_H = 7 * 24
MONTH_H = 30 * 24
PAIRS = 3
"""The records that are alternately old and new, in pairs."""


@contextmanager
def _log(open_log: Callable[[Path], Log]) -> Iterator[Log]:
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(Path(folder) / "demo-0")
        try:
            yield log
        finally:
            log.close()


def read_by_v2(producer: int) -> int:
    """The first timestamp, in ms, that a consumer of v2 reads in a log of v2, if a producer of this format wrote it."""
    stored = appended(producer, log_magic=MAGIC_V2)
    return next(iter(records(down_convert(stored, MAGIC_V2)))).timestamp


def offset_for(hour: int) -> int:
    """The offset that a search for a time finds among the arrivals."""
    with _log(lambda directory: open_hourly_log(directory, ARRIVALS)) as log:
        found = log.fetch_offset_by_timestamp(NOON + hour * HOUR_MS)
        assert found is not None
        return found.offset


def _configured_log(directory: Path, props: dict[str, str]) -> Log:
    time = MockTime()
    return Log(directory, LogConfig(props), 0, MockScheduler(time), time)


@functools.cache
def outcome_without_timestamps() -> str:
    """How a search by time ends in a log whose format has no timestamps."""
    props = {"message.format.version": "0.9.0", "segment.index.bytes": "4096"}
    with _log(lambda directory: _configured_log(directory, props)) as log:
        log.append_as_leader(sent(MAGIC_V0), leader_epoch=0)
        try:
            found = log.fetch_offset_by_timestamp(NOON)
        except ApiError:
            return "error"
        return "none" if found is None or found.offset < 0 else "first"


def segments_left(hours: Sequence[Sequence[int]], retention_h: int, at_h: int) -> int:
    """How many segments of these hours a check of retention leaves."""
    with _log(lambda directory: open_hourly_log(directory, hours)) as log:
        config = LogConfig({"retention.ms": str(retention_h * HOUR_MS)})
        segments = list(log.segments)
        return len(segments) - len(deletable_segments(segments, config, 0, NOON + at_h * HOUR_MS))


def life_of_old_records() -> str:
    """How long records live that are a week old when they come, with a retention of a day."""
    if not segments_left(((0,),), RETENTION_H, at_h=WEEK_H):
        return "check"
    return "day" if not segments_left(((0,),), RETENTION_H, at_h=WEEK_H + RETENTION_H + 1) else "week"


def segments_of_pairs() -> int:
    """How many segments pairs of an old and a new record make, with a ``segment.ms`` of an hour."""
    props = {"segment.ms": str(HOUR_MS), "segment.index.bytes": "4096"}
    with _log(lambda directory: _configured_log(directory, props)) as log:
        for hour in (-MONTH_H, 0) * PAIRS:
            log.append_as_leader(sent(MAGIC_V2, seconds=[3600 * hour]), leader_epoch=0)
        return len(log.segments)


BYTES = Prediction(
    lambda: len(sent(MAGIC_V1)) - len(sent(MAGIC_V0)),
    Words(
        "Eight bytes in each of three messages. A batch of v2 has sixteen in its header, and one or two for each "
        "record.",
        "三条消息，每条八个字节。v2 的批次头里有十六个字节，每条记录再加一两个字节。",
    ),
    {
        8: Words("In v1 each message has a header of its own.", "v1 里每条消息都有自己的头部。"),
        12: Words(
            "A timestamp counts milliseconds since 1970: do they fit into four bytes?",
            "时间戳是 1970 年以来的毫秒数：四个字节放得下吗？",
        ),
        16: Words("So many has the header of a batch in v2.", "这是 v2 批次头里的字节数。"),
        0: Words("Where would v0 have a place for it?", "v0 里哪有放它的地方？"),
    },
)
CONVERTED = Prediction(
    lambda: read_by_v2(MAGIC_V0),
    Words(
        "It says that there is no timestamp. The log cannot invent one that the producer did not send, unless the "
        "topic "
        "wants LogAppendTime.",
        "表示没有时间戳。生产者没有发来，日志也不能编造一个；主题要的是 LogAppendTime，就另当别论。",
    ),
    {
        0: Words("That is a time, in 1970.", "那是 1970 年的一个时间。"),
        60: Words(
            "The broker's clock is asked only if the topic wants LogAppendTime.",
            "主题要的是 LogAppendTime，才看 broker 的时钟。",
        ),
        3: Words("The producer has not sent it: look at the bytes of v0.", "生产者没有发送它：请看 v0 的字节。"),
    },
)
FROM_FIVE = Prediction(
    lambda: offset_for(5),
    Words(
        "It is the first one in the order of offsets that is not older, here that of minute 6. A reader who starts "
        "there "
        "misses nothing from minute 5 on.",
        "按偏移量的次序，排在最前面的、不早于它的那一条，这里是第 6 分钟的。从那里读起，第 5 分钟以后的一条也不会漏"
        "掉。",
    ),
    {
        4: Words(
            "There the record of minute 5 is. But is there one before it that must be read, too?",
            "那是第 5 分钟的记录。可是在它之前，还有没有也该读的？",
        ),
        1: Words("This one is older.", "这一条更早。"),
        5: Words("An offset is asked for, and not a minute.", "问的是偏移量，不是分钟。"),
        6: Words("An earlier offset has a record that is new enough.", "更小的偏移量上就有足够新的记录。"),
    },
)
V0 = Prediction(
    outcome_without_timestamps,
    Words(
        "UNSUPPORTED_FOR_MESSAGE_FORMAT. Any offset would be a claim about times that nobody knows.",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT。给出任何偏移量，都是在断言谁也不知道的时间。",
    ),
    {
        "first": Words(
            "That would say that its record is new enough. Is it known?", "那等于说这条记录足够新。知道吗？"
        ),
        "none": Words("That would say that all records are older. Is it known?", "那等于说所有的记录都更早。知道吗？"),
    },
)
LEFT = Prediction(
    lambda: segments_left(SEGMENTS, RETENTION_H, LOOKED_AT_H),
    Words(
        "The second one is not old because of its hour 70, and protects all after it: segments are deleted from the "
        "oldest on, without gaps.",
        "第二个分段因为第 70 小时的那条还不算旧，它之后的也就都留着：分段从最旧的开始删除，中间不留空洞。",
    ),
    {
        1: Words("May a log have a gap?", "日志中间可以有空洞吗？"),
        4: Words("The largest timestamp of the first is 44 hours old.", "第一个分段最大的时间戳已经过了 44 小时。"),
        0: Words("One of the timestamps is in the future.", "有一个时间戳在未来。"),
        2: Words("Which segments come after the one with the wrong clock?", "时钟出错的那个分段之后，还有哪些分段？"),
    },
)
OLD_DATA = Prediction(
    life_of_old_records,
    Words(
        "According to their own timestamps they are old enough from the beginning.",
        "按它们自己的时间戳，一开始就够旧了。",
    ),
    {
        "day": Words("From when does the broker count?", "broker 从什么时候算起？"),
        "week": Words("The retention of the topic is shorter.", "主题保留的时间更短。"),
        "ever": Words("They are not from the future.", "它们不在未来。"),
    },
)
ROLLED = Prediction(
    segments_of_pairs,
    Words(
        "A segment's age counts from its first timestamp. The first segment is a month old when the second record "
        "comes. "
        "The next one begins now, and what is older than that never makes it old.",
        "分段的年龄从它的第一个时间戳算起。第二条记录到来时，第一个分段已经有一个月了。后一个分段从现在开始，比它早的"
        "记录不会使它变旧。",
    ),
    {
        6: Words(
            "How old does an old record make a segment that begins now?",
            "一个从现在开始的分段，来了一条旧记录，它有多旧？",
        ),
        1: Words("How old is the first segment when the second record comes?", "第二条记录到来时，第一个分段有多旧？"),
        3: Words("The first timestamp of a segment counts, not the last.", "算的是分段的第一个时间戳，不是最后一个。"),
        4: Words("The first timestamp of a segment counts, not the last.", "算的是分段的第一个时间戳，不是最后一个。"),
    },
)
