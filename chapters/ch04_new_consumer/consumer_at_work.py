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
# # Notebook: a consumer at work
#
# *Book 4; its pages are [The poll](polling.md), [Fetching](fetching.md), [Futures](futures.md),
# [Heartbeats](heartbeats.md) and [Committing](committing.md).*
#
# Recorded runs of real consumers with a real broker; most of them are for you to change. Before you run a cell that
# ends in a question, answer it.

# %% [markdown] lang="zh"
# # 笔记本：工作中的消费者
#
# 本书第 4 章；相应的正文
# 是[轮询](polling.md)、[拉取](fetching.md)、[异步请求](futures.md)、[心跳](heartbeats.md)和[提交](committing.md)。
#
# 真实的消费者连接真实的 broker，运行时被录制下来，其中大多数可以改动。单元格如果以问题结尾，请先回答，再运行下一个。

# %%
from functools import partial

from chapters.ch04_new_consumer.figures import consumer_runs
from chapters.ch04_new_consumer.figures.consumer_figures import deliveries
from chapters.ch04_new_consumer.figures.delivery_semantics import (
    Store,
    at_least_once,
    at_most_once,
    dying_after,
    exactly_once,
    fill,
    mortal_consumer,
    play,
)
from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.consumer_watches import poll_watches, watch_futures, watch_member_state
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import in_thread
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.testing import Cluster

# %% [markdown]
# ## The first poll
#
# A consumer knows one address, and its group has never committed. **Which requests does it send, in which order?**

# %% [markdown] lang="zh"
# ## 第一次轮询
#
# 一个消费者只知道一个地址，它的消费组从未提交过。**有哪些请求，按什么顺序？**

# %%
sequence_diagram(consumer_runs.first_poll())

# %% [markdown]
# ## Polls in a row
#
# Five records, three per poll; three more are produced while the user processes the last two. **How many fetches?**

# %% [markdown] lang="zh"
# ## 连续几次轮询
#
# 五条记录，每次轮询三条；用户处理最后两条时，又生产了三条。**几个拉取请求？**

# %%
three_polls = consumer_runs.polls_in_a_row()
sequence_diagram(three_polls)

# %% [markdown]
# The duration of the three polls, and how long the prefetched response was in the socket:

# %% [markdown] lang="zh"
# 三次轮询各花了多少时间，提前拉取的响应在套接字里等了多久：

# %%
for span in three_polls.calls():
    if (span.begin.who, span.begin.what) == ("KafkaConsumer", "poll"):
        print(f"poll: {span.duration_ns / 1e6:6.2f} ms, {span.end.detail['result']}")
responses = [pair for pair in three_polls.hand_overs() if pair.put.what == "response"]
for pair in responses:
    print(f"response: {pair.waited_ns / 1e6:6.2f} ms on its way")

# %% [markdown]
# Your own experiment. **What changes with `max_poll_records=1`? With `fetch_min_bytes=1000`?**

# %% [markdown] lang="zh"
# 轮到你了。**用 `max_poll_records=1` 会有什么变化？用 `fetch_min_bytes=1000` 呢？**


# %%
def record_polls(polls=3, records=5, **configs):
    """A consumer with these settings, which polls so many times."""
    with (
        Recording(poll_watches(), title="Mine", paused=True) as recording,
        consumer_runs.running_cluster(records) as cluster,
        consumer_runs.running_member(cluster, **configs) as consumer,
        recording.running(),
    ):
        in_thread("user", lambda: [consumer.poll(300) for _ in range(polls)])
        recording.pause()
    return recording.run


mine = record_polls(polls=2, max_poll_records=2)
sequence_diagram(mine, lanes=["user", "KafkaConsumer", "Fetcher", "SubscriptionState", "ConsumerNetworkClient"])

# %% [markdown]
# ## The futures of a join
#
# **Which future completes last, and what completes it?**

# %% [markdown] lang="zh"
# ## 一次加入的几个异步请求
#
# **最后完成的是哪个异步请求，由哪个线程完成？**

# %%
sequence_diagram(consumer_runs.futures_of_a_join())

# %% [markdown]
# Now the coordinator returns UNKNOWN_MEMBER_ID to the first JoinGroup. **How many futures are there, and which of
# them fail?**

# %% [markdown] lang="zh"
# 现在协调者对第一个 JoinGroup 返回 UNKNOWN_MEMBER_ID。**有几个异步请求，其中哪些失败？**

# %%
with (
    Recording(
        watch_futures(), watch_member_state(), watch(ConsumerNetworkClient.poll_future, show=()), title="A join fails",
        paused=True,
    ) as recording,
    consumer_runs.running_cluster() as broker,
    consumer_runs.running_consumer(broker, group_id="unlucky", group_instance_id="one") as consumer,
    broker.inject("JoinGroup", Errors.UNKNOWN_MEMBER_ID).once(),
):  # fmt: skip
    consumer.subscribe(["demo"])
    consumer.committed([TopicPartition("demo", 0)])  # finds the coordinator
    with recording.running():
        in_thread("user", lambda: consumer.poll(5000))
        recording.pause()
for event in recording.run:
    if event.kind is Kind.CALL and event.what in ("complete", "fail") and "Group" in event.who:
        print(f"{event.time_ns / 1e6:6.2f} ms  {event.who}: {event.what} {event.detail.get('reason', '')}")

# %% [markdown]
# The future of the response itself succeeds: the response has arrived. The adapter turns it into a failure, and the
# loop in `join_group_if_needed` starts again with two new futures.
#
# ## A heartbeat thread beside the polling thread
#
# The user processes for 150 ms. **How many heartbeats, in which lane?**

# %% [markdown] lang="zh"
# 响应本身是成功的：它到了。适配器从中得出的结论才是失败，而 `join_group_if_needed` 里的循环带着两个新的异步请求重新开
# 始。
#
# ## 轮询线程旁边的心跳线程
#
# 用户处理了 150 ms。**几个心跳，在哪条泳道里？**

# %%
beside = consumer_runs.heartbeats_beside_work()
sequence_diagram(beside)

# %%
for span in beside.calls():
    if span.begin.what == "heartbeat_turn":
        turn = f"at {span.begin.time_ns / 1e6:6.1f} ms a turn of {span.duration_ns / 1e6:.2f} ms"
        print(f"{turn}, then sleep for {span.end.detail.get('result')} ms")

# %% [markdown]
# The user does not poll within `max.poll.interval.ms`. **Which thread leaves the group, and what happens to the
# commit?**

# %% [markdown] lang="zh"
# 用户没有在 `max.poll.interval.ms` 之内回来。**哪个成员离开消费组，那次提交会怎样？**

# %%
sequence_diagram(consumer_runs.work_for_too_long())

# %% [markdown]
# ## Commits
#
# A commit interval of 40 ms, processing of 60 ms. **Which offset does the second poll commit?**

# %% [markdown] lang="zh"
# ## 提交
#
# 间隔 40 ms，处理 60 ms。**第二次轮询提交哪个偏移量？**

# %%
sequence_diagram(consumer_runs.automatic_commits())

# %% [markdown]
# ## Two crashes
#
# Six records, called 1 to 6 as in the book, at the offsets 0 to 5. Consumer 1 commits, then processes, and crashes
# after the first. **Where does consumer 2 start, and what is lost?**

# %% [markdown] lang="zh"
# ## 两次崩溃
#
# 六条记录，像书里那样叫作 1 到 6，偏移量是 0 到 5。消费者 1 先提交，再处理，处理完第一条之后崩溃。**消费者 2 从哪里开
# 始，丢失了什么？**

# %%
most = consumer_runs.at_most_once()
InBothLanguages(partial(deliveries, most))

# %%
sequence_diagram(most)

# %% [markdown]
# Consumer 1 processes, then commits, and crashes after the sixth. **Where does consumer 2 start, and what is
# repeated?**

# %% [markdown] lang="zh"
# 消费者 1 先处理，再提交，处理完第六条之后崩溃。**消费者 2 从哪里开始，重复了什么？**

# %%
least = consumer_runs.at_least_once()
InBothLanguages(partial(deliveries, least))

# %%
sequence_diagram(least)

# %% [markdown]
# A crash at every point within the same three records. **For which of them is nothing lost, or nothing repeated?**

# %% [markdown] lang="zh"
# 同样三条记录，在每一条之后崩溃。**在哪一条之后崩溃，不会丢失，或者不会重复？**

# %%
for loop, deaths in ((at_most_once, "123"), (at_least_once, "456")):
    for last in deaths:
        with Cluster() as broker:
            first, second = play(broker, loop, last)
        worked = first + second
        lost = [each for each in "123456" if each not in worked]
        twice = [each for each in "123456" if worked.count(each) > 1]
        print(f"{loop.__name__:13} dies after {last}: lost {' '.join(lost) or '–':5} repeated {' '.join(twice) or '–'}")

# %% [markdown]
# At most once loses nothing if the crash comes at the end of a batch. At least once always repeats something: after
# the last record, the commit is still to come.
#
# Results and position in one transaction of a database. **What is in the store after the crash, and at the end?**

# %% [markdown] lang="zh"
# 至多一次如果恰好在一批的末尾崩溃，就不会丢失。至少一次则总会重复：处理完最后一条记录时，还没有提交。
#
# 结果和位置写进数据库的同一个事务。**崩溃之后，存储里有什么？最后呢？**


# %%
def print_value(record):
    """The work."""
    print(record.value.decode(), end=" ")


store, partition = Store(), TopicPartition("exactly-once", 0)
with Cluster() as broker:
    fill(broker, partition.topic)
    for dies_after, polls in (("5", 2), ("", 1)):
        with mortal_consumer(broker, "mortal") as consumer:
            exactly_once(consumer, partition, store, dying_after(print_value, dies_after), polls)
        print("in the store:", *store.results, "  position:", store.position(partition))

# %% [markdown]
# ## Now you
#
# - Let consumer 1 crash in `at_least_once` between the processing and the commit of the *first* three records.
# - Use `commit_async` there. What can consumer 2 find?
# - Record `first_poll` for a group that has committed. Which request is missing?

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 让 `at_least_once` 的消费者 1 在处理完**最前面**三条记录之后、提交之前崩溃。
# - 在那里改用 `commit_async`。消费者 2 可能看到什么？
# - 为一个已经提交过的消费组录制 `first_poll`。少了哪个请求？
