# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: streams, tables and windows
#
# *Book 9.2; its pages are [The DSL](dsl.md) and [Windows, sessions and late data](windows.md).*
#
# The same records, read as a stream and as a table; joins of both kinds; and a day of real flights in windows, in the
# order in which they left. Before each step there is a question: write your answer in the place of `None` and run the
# cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：流、表与窗口
#
# 本书 9.2；相应的正文是 [DSL](dsl.md)和[窗口、会话与迟到的数据](windows.md)。
#
# 同样的记录，当作流读，再当作表读；流和表的各种连接；最后是窗口里的一天真实航班，按起飞的先后。
# 每一步之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch09_streams.figures import tables_predictions as predictions
from chapters.ch09_streams.figures.window_figures import joined_values, sessions_after_each
from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.charts import BarChart
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import ByteArrayDeserializer
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.topology_drawing import TopologyDrawing
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from pipeline.nycflights import load_flights


def new_driver(builder):
    return TopologyTestDriver(builder, application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string())


def show(builder, *inputs):
    """Print each input, and what the topology sends to the topic ``out`` for it."""
    with new_driver(builder) as driver:
        for time, (topic, key, value) in enumerate(inputs):
            driver.pipe_input(topic, key, value, timestamp=time)
            sent = iter(lambda: driver.read_output("out"), None)
            print(f"{topic:>7} {key}={value}:", *(f"{record.key}={record.value}" for record in sent))


# %% [markdown]
# ## One topic, read in two ways
#
# The topic says where people are. Ann is in Rome, Bob is in Rome, then Ann is in Oslo. First we count the records of
# each city as a *stream*, then as a *table*. **What is the last count of Rome, when the topic is read as a stream?**

# %% [markdown] lang="zh"
# ## 一个主题，两种读法
#
# 主题说明人在哪里。Ann 在 Rome，Bob 在 Rome，然后 Ann 在 Oslo。我们先把它当作**流**，再当作**表**，数每个城市的记录。
# **当作流来读，Rome 最后的计数是多少？**

# %%
answer = None
predictions.ROME_OF_THE_STREAM.check(answer)

# %% [markdown]
# **And when it is read as a table?**

# %% [markdown] lang="zh"
# **当作表来读呢？**

# %%
answer = None
predictions.ROME_OF_THE_TABLE.check(answer)

# %%
MOVES = [("places", "ann", "Rome"), ("places", "bob", "Rome"), ("places", "ann", "Oslo")]


def as_stream():
    builder = KStreamBuilder()
    counts = builder.stream("places").group_by(lambda _, city: city).count("Visits")
    counts.to_stream().map_values(str).to("out")
    return builder


def as_table():
    builder = KStreamBuilder()
    counts = builder.table("places", "Places").group_by(lambda person, city: (city, person)).count("People")
    counts.to_stream().map_values(str).to("out")
    return builder


show(as_stream(), *MOVES)
print()
show(as_table(), *MOVES)

# %% [markdown]
# The stream counts visits: nothing that has happened goes away. The table counts people: a person who is in Oslo is no
# longer in Rome. For that, the change must know the old city.
#
# The count by city needs a repartition topic. **How many records go through it for the three moves?**

# %% [markdown] lang="zh"
# 流数的是到访：发生过的不会消失。表数的是人：到了 Oslo 的人就不在 Rome 了。为此，改动必须知道旧的城市。
#
# 按城市计数需要一个重分区主题。**三次移动，有多少条记录经过它？**

# %%
answer = None
predictions.REPARTITIONED.check(answer)

# %%
with new_driver(as_table()) as driver:
    for topic, person, city in MOVES:
        driver.pipe_input(topic, person, city, timestamp=0)
    raw = ByteArrayDeserializer()
    records = list(iter(lambda: driver.read_output("app-People-repartition", raw, raw), None))
for record in records:
    value, is_new = record.value[:-1].decode(), record.value[-1]
    print(record.key.decode(), "+" if is_new else "-", value)

# %% [markdown]
# Four: the third move is two records, since the two cities may be in different partitions. The last byte says whether a
# value comes or goes.
#
# ## Who looks whom up
#
# Clicks meet a table of users. Click A comes before its user, click B after it, and click C when the user has been
# deleted. **How many records does `join` send for these three clicks and two changes of the user?**

# %% [markdown] lang="zh"
# 四条：第三次移动是两条记录，因为两个城市可能在不同的分区。最后一个字节说明值是来还是走。
#
# ## 谁查谁
#
# 点击与用户表相遇。点击 A 早于它的用户，点击 B 晚于它，点击 C 在用户删除之后。**三次点击，加上用户的两次改动，`join` 一
# 共发送几条记录？**

# %%
answer = None
predictions.INNER.check(answer)

# %% [markdown]
# **And how many does `left_join` send?**

# %% [markdown] lang="zh"
# **`left_join` 发送几条？**

# %%
answer = None
predictions.LEFT.check(answer)

# %%
CLICKS = [
    ("clicks", "u1", "A"), ("users", "u1", "Ann"), ("clicks", "u1", "B"), ("users", "u1", None), ("clicks", "u1", "C"),
]  # fmt: skip

for name in ("join", "left_join"):
    builder = KStreamBuilder()
    users = builder.table("users", "Users")
    join = getattr(builder.stream("clicks"), name)
    join(users, lambda click, user: f"{click} by {user}").to("out")
    print(name)
    show(builder, *CLICKS)

# %% [markdown]
# Now both sides are tables, so both drive the join. Five changes of one key: left=a, right=1, left=b, left is deleted,
# right is deleted. Write their numbers with blanks between them, such as `"2 3"`: **for which of the changes 1 to 5 do
# `join`, `left_join` and `outer_join` not all send the same?**

# %% [markdown] lang="zh"
# 现在两边都是表，所以两边都推动连接。同一个键的五次改动：左边是 a，右边是 1，左边是 b，删除左边，删除右边。用空格隔开编
# 号，例如 `"2 3"`：**1 到 5 的改动里，对哪几个，`join`、`left_join` 和 `outer_join` 发送的不全相同？**

# %%
answer = None
predictions.DIFFERING.check(answer)

# %%
CHANGES = [("left", "k", "a"), ("right", "k", "1"), ("left", "k", "b"), ("left", "k", None), ("right", "k", None)]

for name in ("join", "left_join", "outer_join"):
    builder = KStreamBuilder()
    left, right = builder.table("left", "Left"), builder.table("right", "Right")
    getattr(left, name)(right, lambda one, other: f"{one}+{other}").to("out")
    print(name)
    show(builder, *CHANGES)

# %% [markdown]
# Two streams have no current value. They need a window: how far apart may two records be? Clicks and views, within 5.
# There is click A with the time 10, and later click B with the time 16. **A view of the time 8 comes last. Which click
# does it meet: `"A"`, `"B"`, `"both"` or none (`""`)?**

# %% [markdown] lang="zh"
# 两个流没有当前值。它们需要一个窗口：两条记录最多相距多远？点击和浏览，在 5 之内。先有时间为 10 的点击 A，后有时间为 16
# 的点击 B。**最后来了一条时间为 8 的浏览。它遇到哪次点击：`"A"`、`"B"`、两次（`"both"`），还是一次也没有（`""`）？**

# %%
answer = None
predictions.MET.check(answer)

# %%
RECORDS = [("clicks", "A", 10), ("views", "1", 14), ("clicks", "B", 16), ("views", "2", 22), ("views", "3", 8)]
for (topic, value, time), sent in zip(RECORDS, joined_values(RECORDS, JoinWindows.of(5)), strict=True):
    print(f"{topic} {value} at {time:2}:", *sent)

# %% [markdown]
# ## Where a topic is needed
#
# `select_key` marks the stream, and `count` sees the mark. Clicks get the page as their key, are grouped by it and
# counted. **How many sub-topologies does this topology have?**

# %% [markdown] lang="zh"
# ## 哪里需要主题
#
# `select_key` 给流作了标记，`count` 看到标记。点击改以页面为键，按它分组，再计数。**这个拓扑有几个子拓扑？**

# %%
answer = None
predictions.GROUPS.check(answer)

# %%
builder = KStreamBuilder()
builder.stream("clicks").select_key(lambda _, page: page).group_by_key().count("ByPage").to("pages")
TopologyDrawing(builder.set_application_id("app").describe())

# %% [markdown]
# ## A day in windows
#
# Flights left Newark on 1 January 2013. Each record comes when its flight has left, and its time is the *scheduled*
# departure: a flight that leaves late is late data. **How many of the records are late, that is, older than one that
# came before: `"one in ten"`, `"nearly a half"` or `"nearly all"`?**

# %% [markdown] lang="zh"
# ## 窗口里的一天
#
# 2013 年 1 月 1 日从 Newark 起飞的航班。每条记录在航班起飞时到来，它的时间是**计划的**起飞时刻：晚点的航班就是迟到的数
# 据。**有多少记录迟到，也就是比之前来过的某一条更早：十分之一（`"one in ten"`）、将近一半（`"nearly a half"`），还是几
# 乎全部（`"nearly all"`）？**

# %%
answer = None
predictions.LATE.check(answer)

# %%
MINUTE = 60_000
HOUR = 60 * MINUTE
flights = load_flights().query("month == 1 and day == 1 and origin == 'EWR' and dep_delay.notna()")
planned = flights["hour"] * HOUR + flights["minute"] * MINUTE
by_departure = sorted(zip(planned + flights["dep_delay"].astype(int) * MINUTE, planned, strict=True))

newest = late = 0
for _, time in by_departure:
    late += time < newest
    newest = max(newest, time)
print(late, "of", len(by_departure), "records are late")

# %% [markdown]
# Nearly a half: flights do not leave in the order of the timetable. No record is lost, each finds the window of its own
# hour. But a count is final only when its last flight has left. The first hour is 5, the last 22. A guess is enough
# here: **which hour is the worst, that is, whose count changes longest after the end of its hour?**

# %% [markdown] lang="zh"
# 将近一半：航班不按时刻表的顺序起飞。没有一条记录丢失，每条都找到自己那一小时的窗口。
# 但是要等最后一个航班起飞，计数才不再变。
# 最早的一小时是 5，最晚的是 22。这里猜一猜就行：**哪一小时最糟，也就是结束之后最久，计数还在变？**

# %%
answer = None
predictions.WORST.check(answer)

# %%
builder = KStreamBuilder()
counts = builder.stream("flights").group_by_key().count("Hours", TimeWindows.of(HOUR))
counts.to_stream(lambda window, _: str(window.window.start)).map_values(str).to("out")

last_change = {}
with new_driver(builder) as driver:
    for left_at, time in by_departure:
        driver.pipe_input("flights", "EWR", "", timestamp=int(time))
        for record in iter(lambda: driver.read_output("out"), None):
            last_change[int(record.key) // HOUR] = int(left_at), int(record.value)


@with_chinese_twin
def changes(language="en"):
    title = {
        "en": "The last change of an hour's count, minutes after its end",
        "zh": "一小时的计数最后一次改动，在它结束之后的分钟数",
    }
    after = {f"{hour}:00": max(0, at // MINUTE - (hour + 1) * 60) for hour, (at, _) in sorted(last_change.items())}
    return BarChart(title[language], after, "min")


print(sum(count for _, count in last_change.values()), "flights are counted")
changes()

# %% [markdown]
# A result after the hour would have missed these flights. Kafka 0.10.2 does not wait: it sends a new count for each
# record, and keeps the window for a day (`until`).
#
# ## Sessions
#
# A session has no fixed end. The gap is 5; records of the times 0, 4, 20 and 11 come in this order, and then one of the
# time 15. Write each session as its start, its end and the number of its records, such as `"0-4:2 7-7:1"`: **which
# sessions are there in the end?**

# %% [markdown] lang="zh"
# 整点一过就给结果，会漏掉这些航班。Kafka 0.10.2 不等：每条记录都发送一个新的计数，窗口保留一天（`until`）。
#
# ## 会话
#
# 会话没有固定的结束。间隔是 5；时间为 0、4、20、11 的记录依次到来，然后是时间为 15 的一条。每个会话写成开始、结束和记录
# 数，例如 `"0-4:2 7-7:1"`：**最后有哪些会话？**

# %%
answer = None
predictions.MERGED.check(answer)

# %%
TIMES = [0, 4, 20, 11, 15]
for time, sessions in zip(TIMES, sessions_after_each(TIMES, SessionWindows.with_gap(5)), strict=True):
    print(f"{time:2}:", *(f"[{start}, {end}]={count}" for start, end, count in sessions))

# %% [markdown]
# ## Now you
#
# - Give the hours `until(2 * HOUR)`, let the flights of two days come, and find a count that starts over.
# - Then write it: [where a topic is needed](../../labs/ch09-repartition.md),
#   [the join of two tables](../../labs/ch09-table-join.md), [windows](../../labs/ch09-window-assignment.md) and
#   [sessions](../../labs/ch09-session-merge.md).
# - Count the flights of a day by hopping windows of two hours that advance by one. **In how many windows is each
#   flight?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 给每小时的窗口加上 `until(2 * HOUR)`，让两天的航班到来，找一个从头开始的计数。
# - 然后自己写：[哪里需要主题](../../labs/ch09-repartition.md)，
#   [两个表的连接](../../labs/ch09-table-join.md)，[窗口](../../labs/ch09-window-assignment.md)和
#   [会话](../../labs/ch09-session-merge.md)。
# - 用两小时的跳跃窗口数一天的航班，每次前进一小时。**每个航班在几个窗口里？**

# %%
answer = None
predictions.IN_WINDOWS.check(answer)
