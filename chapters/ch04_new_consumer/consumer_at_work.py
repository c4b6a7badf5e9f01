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
# Recorded runs of real consumers with a real broker; most of them are for you to change. Before each run there is a
# question: write your answer in the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：工作中的消费者
#
# 本书第 4 章；相应的正文
# 是[轮询](polling.md)、[拉取](fetching.md)、[异步请求](futures.md)、[心跳](heartbeats.md)和[提交](committing.md)。
#
# 真实的消费者连接真实的 broker，运行时被录制下来，其中大多数可以改动。每次运行之前有一个问题：把答案写在 `None` 的位
# 置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from functools import partial

from chapters.ch04_new_consumer.figures import consumer_predictions as predictions
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
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing import Cluster

# %% [markdown]
# ## The first poll
#
# A consumer knows one address, and its group has never committed. (It is a static member, for which one JoinGroup is
# enough.) C is FindCoordinator, F Fetch, J JoinGroup, L ListOffsets, O OffsetFetch, S SyncGroup. It may need all of
# them, or fewer. Write their letters as one word, such as `"FJ"`: **which does it send until it has records, in which
# order?**

# %% [markdown] lang="zh"
# ## 第一次轮询
#
# 一个消费者只知道一个地址，它的消费组从未提交过。（它是静态成员，发送一次 JoinGroup 就够了。）C 是 FindCoordinator，F
# 是 Fetch，J 是 JoinGroup，L 是 ListOffsets，O 是 OffsetFetch，S 是 SyncGroup；不一定每个都用得上。把字母写成一个词，例
# 如 `"FJ"`：**到拿到记录为止，它发送哪些请求，按什么顺序？**

# %%
answer = None
predictions.FIRST_POLL.check(answer)

# %%
sequence_diagram(consumer_runs.first_poll())

# %% [markdown]
# ## Polls in a row
#
# Five records, three per poll; three more are produced while the user processes the last two. **How many fetches do
# three polls send?**

# %% [markdown] lang="zh"
# ## 连续几次轮询
#
# 五条记录，每次轮询三条；用户处理最后两条时，又生产了三条。**三次轮询一共发送几个拉取请求？**

# %%
answer = None
predictions.FETCHES.check(answer)

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
# Your own experiment. **With `max_poll_records=1`, how many fetches do three polls of these five records send?**

# %% [markdown] lang="zh"
# 轮到你了。同样五条记录，**用 `max_poll_records=1` 轮询三次，会发送几个拉取请求？**

# %%
answer = None
predictions.SHORT_POLLS.check(answer)

# %% [markdown]
# And **how many records does one poll of 300 ms return with `fetch_min_bytes=1000`**, if the broker has five short
# ones?

# %% [markdown] lang="zh"
# 如果 broker 上只有五条短记录，**用 `fetch_min_bytes=1000` 轮询一次，等 300 ms，会返回几条？**

# %%
answer = None
predictions.PATIENT.check(answer)

# %%
mine = predictions.record_polls(polls=2, max_poll_records=2)
sequence_diagram(mine, lanes=["user", "KafkaConsumer", "Fetcher", "SubscriptionState", "ConsumerNetworkClient"])

# %% [markdown]
# ## The futures of a join
#
# A member that knows its coordinator makes four futures, in this order: 1 for the response to JoinGroup, 2 for what the
# handler makes of it, 3 for the response to SyncGroup, 4 for what its handler makes of that. **Which one completes
# last?**

# %% [markdown] lang="zh"
# ## 一次加入的几个异步请求
#
# 知道协调者的成员依次创建四个异步请求：1 是 JoinGroup 的响应，2 是处理类从中得出的结果，3 是 SyncGroup 的响应，4 是
# 它的处理类得出的结果。**最后完成的是哪一个？**

# %%
answer = None
predictions.LAST_FUTURE.check(answer)

# %%
sequence_diagram(consumer_runs.futures_of_a_join())

# %% [markdown]
# Now the coordinator returns UNKNOWN_MEMBER_ID to the first JoinGroup. **How many futures are there until the member
# has joined?**

# %% [markdown] lang="zh"
# 现在协调者对第一个 JoinGroup 返回 UNKNOWN_MEMBER_ID。**到加入成功为止，一共有几个异步请求？**

# %%
answer = None
predictions.FUTURES.check(answer)

# %% [markdown]
# They are numbered as before. **Which of them fails?**

# %% [markdown] lang="zh"
# 编号和上面一样。**失败的是其中哪一个？**

# %%
answer = None
predictions.FAILED.check(answer)

# %%
for event in predictions.failing_join(Errors.UNKNOWN_MEMBER_ID):
    if event.kind is Kind.CALL and event.what in ("complete", "fail") and "Group" in event.who:
        print(f"{event.time_ns / 1e6:6.2f} ms  {event.who}: {event.what} {event.detail.get('reason', '')}")

# %% [markdown]
# The future of the response itself succeeds: the response has arrived. The adapter turns it into a failure, and the
# loop in `join_group_if_needed` starts again with two new futures.
#
# ## A heartbeat thread beside the polling thread
#
# The user processes for 150 ms, and `heartbeat.interval.ms` is 60. **At least how many heartbeats are sent meanwhile?**

# %% [markdown] lang="zh"
# 响应本身是成功的：它到了。适配器从中得出的结论才是失败，而 `join_group_if_needed` 里的循环带着两个新的异步请求重新开
# 始。
#
# ## 轮询线程旁边的心跳线程
#
# 用户处理了 150 ms，`heartbeat.interval.ms` 是 60。**这期间至少发送几个心跳？**

# %%
answer = None
predictions.HEARTBEATS.check(answer)

# %%
beside = consumer_runs.heartbeats_beside_work()
sequence_diagram(beside)

# %%
for span in beside.calls():
    if span.begin.what == "heartbeat_turn":
        turn = f"at {span.begin.time_ns / 1e6:6.1f} ms a turn of {span.duration_ns / 1e6:.2f} ms"
        print(f"{turn}, then sleep for {span.end.detail.get('result')} ms")

# %% [markdown]
# The user processes the offsets 0 to 2, and does not poll within `max.poll.interval.ms`. **In whose lane is LeaveGroup
# sent: `"user"`, `"KafkaConsumer"`, `"HeartbeatThread"` or the broker's, `"Processor"`?**

# %% [markdown] lang="zh"
# 用户处理偏移量 0 到 2，没有在 `max.poll.interval.ms` 之内回来轮询。**LeaveGroup 是在哪条泳道里发送的：`"user"`、
# `"KafkaConsumer"`、`"HeartbeatThread"`，还是 broker 的 `"Processor"`？**

# %%
answer = None
predictions.LEAVER.check(answer)

# %% [markdown]
# The user comes back, commits synchronously, catches whatever that raises, and polls. It is the group's only commit,
# and `auto.offset.reset` is `earliest`. **With which offset do the records of this poll begin?**

# %% [markdown] lang="zh"
# 用户回来了，同步提交，捕获可能抛出的异常，再轮询。这是该组唯一的一次提交，`auto.offset.reset` 是 `earliest`。
# **这次轮询返回的记录从哪个偏移量开始？**

# %%
answer = None
predictions.AFTER_TOO_LONG.check(answer)

# %%
sequence_diagram(consumer_runs.work_for_too_long())

# %% [markdown]
# ## Commits
#
# A commit interval of 40 ms, processing of 60 ms, three records per poll. **Which offset does the second poll commit?**

# %% [markdown] lang="zh"
# ## 提交
#
# 间隔 40 ms，处理 60 ms，每次轮询三条记录。**第二次轮询提交哪个偏移量？**

# %%
answer = None
predictions.SECOND_POLL.check(answer)

# %%
sequence_diagram(consumer_runs.automatic_commits())

# %% [markdown]
# ## Two crashes
#
# Six records, called 1 to 6 as in the book, at the offsets 0 to 5, three per poll. Consumer 1 commits, then processes,
# and crashes after the first. Where does consumer 2 start, and **how many records are lost?**

# %% [markdown] lang="zh"
# ## 两次崩溃
#
# 六条记录，像书里那样叫作 1 到 6，偏移量是 0 到 5，每次轮询三条。消费者 1 先提交，再处理，处理完第一条之后崩溃。消费者
# 2 从哪里开始？**丢失了几条？**

# %%
answer = None
predictions.LOST.check(answer)

# %%
most = consumer_runs.at_most_once()
InBothLanguages(partial(deliveries, most))

# %%
sequence_diagram(most)

# %% [markdown]
# Consumer 1 processes, then commits, and crashes after the sixth. Where does consumer 2 start, and **how many records
# are processed twice?**

# %% [markdown] lang="zh"
# 消费者 1 先处理，再提交，处理完第六条之后崩溃。消费者 2 从哪里开始？**重复处理了几条？**

# %%
answer = None
predictions.REPEATED.check(answer)

# %%
least = consumer_runs.at_least_once()
InBothLanguages(partial(deliveries, least))

# %%
sequence_diagram(least)

# %% [markdown]
# A crash after each record of a batch: after 1, 2 or 3 at most once, after 4, 5 or 6 at least once. Write the records
# as one text of digits, `""` if there are none: **after which of them does a crash do no harm, so that nothing is lost
# and nothing repeated?**

# %% [markdown] lang="zh"
# 在一批的每一条之后崩溃：至多一次，在 1、2 或 3 之后；至少一次，在 4、5 或 6 之后。把记录的数字写成一个字符串，一个也没
# 有就写 `""`：**在哪些记录之后崩溃没有坏处，既不丢失，也不重复？**

# %%
answer = None
predictions.HARMLESS.check(answer)

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
# Results and position in one transaction of a database for each batch of three. Consumer 1 crashes in the second batch,
# after record 5. **How many results are in the store then?**

# %% [markdown] lang="zh"
# 至多一次如果恰好在一批的末尾崩溃，就不会丢失。至少一次则总会重复：处理完最后一条记录时，还没有提交。
#
# 结果和位置写进数据库的同一个事务，每批三条。消费者 1 在第二批里崩溃，在第 5 条之后。**这时存储里有几个结果？**

# %%
answer = None
predictions.STORED.check(answer)


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
# - Use `commit_async` in `at_least_once`, and let consumer 1 crash soon after it: consumer 2 may find either position.
# - Record `consumer_runs.first_poll(3)`, the first poll of a member whose group has committed the offset 3. Which of
#   the requests, **which letter of the first question, is missing?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 在 `at_least_once` 里改用 `commit_async`，让消费者 1 随后就崩溃：消费者 2 可能看到提交前的位置，也可能看到提交后的。
# - 录制 `consumer_runs.first_poll(3)`：消费组已经提交过偏移量 3，它的成员第一次轮询。少了哪个请求，**也就是少了第一个问
#   题里的哪个字母？**

# %%
answer = None
predictions.MISSING.check(answer)

# %% [markdown]
# Let consumer 1 crash in `at_least_once` between the processing and the commit of the *first* three records, so after
# record 3. **How many records are processed twice?**

# %% [markdown] lang="zh"
# 让 `at_least_once` 的消费者 1 在处理完**最前面**三条记录之后、提交之前崩溃，也就是在第 3 条之后。**重复处理了几条？**

# %%
answer = None
predictions.REPEATED_FIRST.check(answer)
