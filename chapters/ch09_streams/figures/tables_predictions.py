"""The answers to the predictions of the notebook on streams and tables, computed by its topologies. Book 9.2."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from chapters.ch09_streams.figures.window_figures import counts_in_windows, joined_values, sessions_after_each
from kafka_learn.check import Prediction, Words
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import ByteArrayDeserializer
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from pipeline.nycflights import load_flights

Input = tuple[str, str, str | None]
"""Topic, key and value."""
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
MOVES: tuple[Input, ...] = (("places", "ann", "Rome"), ("places", "bob", "Rome"), ("places", "ann", "Oslo"))
CLICKS: tuple[Input, ...] = (
    ("clicks", "u1", "A"), ("users", "u1", "Ann"), ("clicks", "u1", "B"), ("users", "u1", None), ("clicks", "u1", "C"),
)  # fmt: skip
CHANGES: tuple[Input, ...] = (
    ("left", "k", "a"), ("right", "k", "1"), ("left", "k", "b"), ("left", "k", None), ("right", "k", None),
)  # fmt: skip
RECORDS = (("clicks", "A", 10), ("views", "1", 14), ("clicks", "B", 16), ("views", "2", 22), ("views", "3", 8))
"""Topic, value and time."""
JOIN = JoinWindows.of(5)
SESSION_TIMES = (0, 4, 20, 11, 15)
SESSIONS = SessionWindows.with_gap(5)
HOPPING = TimeWindows.of(2 * HOUR_MS).advance_by(HOUR_MS)


# ── the topologies ──────────────────────────────────────────────────────────────────────────────────────────────────


def new_driver(builder: KStreamBuilder) -> TopologyTestDriver:
    """A driver whose keys and values are text by default."""
    return TopologyTestDriver(builder, application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string())


def sent(builder: KStreamBuilder, *inputs: Input) -> list[list[str]]:
    """The records ``key=value`` that a topology sends to the topic ``out``, for each input."""
    found = []
    with new_driver(builder) as driver:
        for time, (topic, key, value) in enumerate(inputs):
            driver.pipe_input(topic, key, value, timestamp=time)
            records = iter(lambda: driver.read_output("out"), None)
            found.append([f"{record.key}={record.value}" for record in records])
    return found


def as_stream() -> KStreamBuilder:
    """Count the records of each city."""
    builder = KStreamBuilder()
    counts: KTable[str, int] = builder.stream("places").group_by(lambda _, city: city).count("Visits")
    counts.to_stream().map_values(str).to("out")
    return builder


def as_table() -> KStreamBuilder:
    """Count the people in each city."""
    builder = KStreamBuilder()
    counts: KTable[str, int] = (
        builder.table("places", "Places").group_by(lambda person, city: (city, person)).count("People")
    )
    counts.to_stream().map_values(str).to("out")
    return builder


def clicks_by(join: str) -> KStreamBuilder:
    """Clicks that look their user up, by ``join`` or ``left_join``."""
    builder = KStreamBuilder()
    users: KTable[str, str] = builder.table("users", "Users")
    getattr(builder.stream("clicks"), join)(users, lambda click, user: f"{click} by {user}").to("out")
    return builder


def tables_joined_by(join: str) -> KStreamBuilder:
    """Two tables, by ``join``, ``left_join`` or ``outer_join``."""
    builder = KStreamBuilder()
    left: KTable[str, str] = builder.table("left", "Left")
    right: KTable[str, str] = builder.table("right", "Right")
    getattr(left, join)(right, lambda one, other: f"{one}+{other}").to("out")
    return builder


def by_page() -> KStreamBuilder:
    """Clicks, counted by another key than their own."""
    builder = KStreamBuilder()
    builder.stream("clicks").select_key(lambda _, page: page).group_by_key().count("ByPage").to("pages")
    return builder


# ── flights ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Departure(NamedTuple):
    """When a flight left, and when it should have, in ms of its day."""

    left_at: int
    planned: int


@functools.cache
def departures() -> list[Departure]:
    """The flights from Newark on 1 January 2013, in the order in which they left."""
    flights = load_flights().query("month == 1 and day == 1 and origin == 'EWR' and dep_delay.notna()")
    planned = flights["hour"] * HOUR_MS + flights["minute"] * MINUTE_MS
    left_at = planned + flights["dep_delay"].astype(int) * MINUTE_MS
    return sorted(Departure(int(left), int(plan)) for left, plan in zip(left_at, planned, strict=True))


def late() -> int:
    """The number of flights that are older than one that came before."""
    newest = count = 0
    for _, planned in departures():
        count += planned < newest
        newest = max(newest, planned)
    return count


def worst_hour() -> int:
    """The hour whose count changes longest after its end."""
    after = {planned // HOUR_MS: left_at - planned // HOUR_MS * HOUR_MS for left_at, planned in departures()}
    return max(after, key=after.__getitem__)


# ── the answers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def last_count(builder: Callable[[], KStreamBuilder], city: str) -> int:
    """The last count of a city after the moves."""
    counts = [record.split("=") for records in sent(builder(), *MOVES) for record in records]
    return next(int(count) for name, count in reversed(counts) if name == city)


def repartitioned() -> int:
    """The records that go through the repartition topic of the table."""
    raw = ByteArrayDeserializer()
    with new_driver(as_table()) as driver:
        for topic, person, city in MOVES:
            driver.pipe_input(topic, person, city, timestamp=0)
        return len(list(iter(lambda: driver.read_output("app-People-repartition", raw, raw), None)))


def records_of(builder: KStreamBuilder, inputs: Sequence[Input]) -> int:
    """The number of records that are sent."""
    return sum(map(len, sent(builder, *inputs)))


def differing_lines() -> str:
    """The numbers of the changes for which the three joins of tables do not send the same."""
    lines = zip(*(sent(tables_joined_by(join), *CHANGES) for join in ("join", "left_join", "outer_join")), strict=True)
    return " ".join(str(number) for number, line in enumerate(lines, 1) if line[0] != line[1] or line[1] != line[2])


def session_after_the_last() -> str:
    """The sessions at the end, each as start, end and count."""
    sessions = sessions_after_each(SESSION_TIMES, SESSIONS)[-1]
    return " ".join(f"{start}-{end}:{count}" for start, end, count in sessions)


ROME_OF_THE_STREAM = Prediction(
    lambda: last_count(as_stream, "Rome"),
    Words("The stream counts visits: nothing that has happened goes away.", "流数的是到访：发生过的不会消失。"),
    {
        1: Words("Who says that Ann's visit did not happen?", "Ann 到过 Rome，这件事没有发生吗？"),
        3: Words("One of the three records is about Oslo.", "三条记录里有一条说的是 Oslo。"),
        0: Words("Records of a stream are facts.", "流的记录是事实。"),
    },
)
ROME_OF_THE_TABLE = Prediction(
    lambda: last_count(as_table, "Rome"),
    Words(
        "The table counts people, and the change of Ann's row takes her away from the old city.",
        "表数的是人；Ann 的那一行一改，就把她从旧的城市减去。",
    ),
    {
        2: Words("Where is Ann in the end?", "Ann 最后在哪里？"),
        0: Words("Bob has not moved again.", "Bob 没有再移动。"),
        3: Words("A person can only be in one place.", "一个人只能在一个地方。"),
    },
)
REPARTITIONED = Prediction(
    repartitioned,
    Words(
        "The third move is two records: one takes Ann away from Rome, the other adds her to Oslo. The two cities may "
        "be "
        "in different partitions.",
        "第三次移动是两条记录：一条把 Ann 从 Rome 减去，一条把她加到 Oslo。两个城市可能在不同的分区。",
    ),
    {
        3: Words(
            "Two cities change with the third move. Are they in the same partition?",
            "第三次移动改变了两个城市。它们在同一个分区吗？",
        ),
        6: Words("With the first two there is no old city.", "前两次没有旧的城市。"),
        2: Words("Each move is a change.", "每次移动都是改动。"),
    },
)
INNER = Prediction(
    lambda: records_of(clicks_by("join"), CLICKS),
    Words(
        "B, while there is a user. Only clicks drive this join: the table is looked up, and sends nothing by itself.",
        "只有 B，那时用户在表里。推动这个连接的只有点击：表只供查询，自己不发送什么。",
    ),
    {
        2: Words("When the user comes, click A has long been processed.", "用户到来时，点击 A 早就处理完了。"),
        3: Words("An inner join sends nothing if there is no user.", "没有用户，内连接就不发送。"),
        0: Words("Is the user there when one of the clicks comes?", "有没有哪次点击到来时，用户在表里？"),
    },
)
LEFT = Prediction(
    lambda: records_of(clicks_by("left_join"), CLICKS),
    Words(
        "Each click, with or without a user. The changes of the user send nothing.",
        "每次点击一条，不论有没有用户。用户的改动不发送什么。",
    ),
    {
        5: Words("Does a change of the table send anything here?", "在这里，表的改动会发送什么吗？"),
        1: Words("A left join sends clicks without a user, too.", "左连接也发送没有用户的点击。"),
        4: Words("Does a change of the table send anything here?", "在这里，表的改动会发送什么吗？"),
    },
)
DIFFERING = Prediction(
    differing_lines,
    Words(
        "Where only one side has a value: left and outer join send the first change, and after the fourth only the "
        "outer "
        "join has something left, which it withdraws with the fifth.",
        "就是只有一边有值的地方：第一个改动，左连接和外连接都发送；第四个之后只有外连接还有结果，第五个再把它撤回。",
    ),
    {
        "1 4": Words("What is left of the outer join before the last change?", "最后一个改动之前，外连接还剩什么？"),
        "1": Words("Two of the changes are deletions.", "有两个改动是删除。"),
        "4 5": Words("What do the joins send while the right side is empty?", "右边还是空的时候，各种连接发送什么？"),
        "1 2 4 5": Words("With the second change both sides have a value.", "第二个改动之后，两边都有值。"),
        "1 2 3 4 5": Words("With the second change both sides have a value.", "第二个改动之后，两边都有值。"),
    },
)
MET = Prediction(
    lambda: joined_values(RECORDS, JOIN)[-1][0].split("+")[0],
    Words(
        "10 is within 5 of 8, and 16 is not. The order of arrival does not matter, as long as the store has the "
        "record.",
        "10 与 8 相距不到 5，16 超过了。只要存储里还有，先来后到无关紧要。",
    ),
    {
        "B": Words("It came last. But how far apart are their times?", "它来得最晚。可是两者的时间相距多少？"),
        "": Words("Late data is joined, too, while the window is kept.", "窗口还保留着，迟到的数据也会连接。"),
        "both": Words("How far is 16 from 8?", "16 与 8 相距多少？"),
    },
)
GROUPS = Prediction(
    lambda: len(by_page().set_application_id("app").node_groups()),
    Words(
        "Between them is a repartition topic: only it brings all clicks of a page into one partition.",
        "中间是一个重分区主题：只有它能把一个页面的所有点击带到同一个分区。",
    ),
    {
        1: Words("In which partition are the clicks of one page?", "同一个页面的点击在哪个分区？"),
        3: Words("`select_key` alone needs no topic.", "只有 `select_key` 还不需要主题。"),
        4: Words("`select_key` alone needs no topic.", "只有 `select_key` 还不需要主题。"),
    },
)
LATE = Prediction(
    lambda: ["one in ten", "nearly a half", "nearly all"][round(2 * late() / len(departures()))],
    Words(
        "Flights do not leave in the order of the timetable: one that waits is overtaken by all that leave meanwhile.",
        "航班不按时刻表的顺序起飞：等着的那个，会被这期间起飞的都超过。",
    ),
    {
        "one in ten": Words(
            "A flight need not be very late: a few minutes are enough to be overtaken.",
            "不用晚很多：几分钟就会被超过。",
        ),
        "nearly all": Words("Those that leave in time are never late.", "准点起飞的不会迟到。"),
    },
)
WORST = Prediction(
    worst_hour,
    Words(
        "One flight of this hour left almost six hours after its end. Small delays of many do not matter, one large "
        "delay does.",
        "这个小时有一个航班在它结束将近六小时之后才起飞。许多小的晚点无关紧要，一个大的就够了。",
    ),
    {
        21: Words("Who leaves last need not be the most delayed.", "最后起飞的，不一定晚得最多。"),
        22: Words("Who leaves last need not be the most delayed.", "最后起飞的，不一定晚得最多。"),
        5: Words("In the morning there is little to wait for.", "清早没有什么要等的。"),
        13: Words(
            "A good guess: its count changes for more than four hours. There is one that is worse.",
            "猜得不错：它的计数四个多小时以后还在变。还有一个更晚。",
        ),
    },
)
MERGED = Prediction(
    session_after_the_last,
    Words(
        "15 is within the gap of 11 and of 20, so it merges the two. 4 and 11 are too far apart.",
        "15 与 11、20 的间隔都不超过 5，于是把两个会话合成一个。4 和 11 相距太远。",
    ),
    {
        "0-4:2 11-15:2 20-20:1": Words("How far is 15 from 20?", "15 与 20 相距多少？"),
        "0-4:2 11-11:1 15-20:2": Words("How far is 15 from 11?", "15 与 11 相距多少？"),
        "0-20:5": Words("How far is 4 from 11?", "4 与 11 相距多少？"),
        "0-4:2 11-11:1 15-15:1 20-20:1": Words(
            "A gap that is equal to 5 still belongs to the session.", "恰好等于 5 的间隔，仍属于同一个会话。"
        ),
    },
)
IN_WINDOWS = Prediction(
    lambda: len(counts_in_windows([5 * HOUR_MS], HOPPING)[0]),
    Words(
        "A window begins each hour and lasts two, so that each moment is in the one that has just begun and in the one "
        "before.",
        "每小时开始一个窗口，持续两小时，所以每一刻都在刚开始的和前一个窗口里。",
    ),
    {
        1: Words(
            "Windows overlap if they advance by less than their size.", "前进的步长小于窗口的大小，窗口就会重叠。"
        ),
        24: Words(
            "So many windows begin in a day. Which of them contain one moment?",
            "一天里开始这么多个窗口。包含某一刻的有哪些？",
        ),
        3: Words("The end does not belong to a window.", "窗口不包含它的终点。"),
    },
)
