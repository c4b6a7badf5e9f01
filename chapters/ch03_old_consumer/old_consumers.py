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
# # Notebook: the old consumers
#
# *Book chapter 3; the text to it is [The connector](connector.md), [Rebalancing](rebalance.md),
# [Fetching and consuming](fetching.md), [Committing](commits.md) and [The low-level API](simple-consumer.md).*
#
# A broker and a ZooKeeper run in this process, real consumers talk to them, and what happens is recorded from outside.
# Before you run a cell that ends in a question, answer it.

# %%
import logging
import threading

from kafka_lite.learn.old_consumer_figures import assign, ownership, znodes_of_two
from kafka_lite.learn.old_consumer_runs import (
    Member,
    commit_to_both,
    commit_to_zookeeper,
    group_of,
    low_level,
    one_to_three,
    queue_and_iterator,
    rebalance,
    running_cluster,
    wait_balanced,
)
from kafka_lite.learn.recorded_run import Kind
from kafka_lite.learn.sequence_diagram import sequence_diagram
from kafka_lite.learn.time_line import time_line

logging.getLogger("kafka_lite.old_consumer").setLevel(logging.CRITICAL)  # we make go wrong what it would tell of

# %% [markdown]
# ## The threads of a consumer
#
# One connector, one topic, one stream, one broker. **How many threads does the consumer have, without the user's?**

# %%
with running_cluster() as cluster, group_of() as members:
    before = set(threading.enumerate())
    members.append(Member(cluster, "a"))
    members[0].join()
    wait_balanced(members)
    for thread in sorted(set(threading.enumerate()) - before, key=lambda each: each.name):
        if "readers_a" in thread.name or "kafka-consumer" in thread.name or "user" in thread.name:
            print(f"{type(thread).__name__:24} {thread.name}")

# %% [markdown]
# A thread that rebalances, one that looks for leaders, one that fetches (for each broker there would be one). A
# scheduler's thread comes with its first task, the automatic commit. ZooKeeper's client has threads of its own.
#
# ## The znodes of a group
#
# Member a alone; a and b; b alone. **Which znodes are deleted by whom, and which stay for ever?**

# %%
columns = znodes_of_two()
for path in sorted({path for column in columns for path in column}):
    print(f"{path:18}", *(f"{column.get(path, ''):22}" for column in columns))

# %% [markdown]
# ## A rebalance with two members
#
# Member a owns four partitions, and its user takes a while to let them go. Member b joins. **How often does b try, and
# what does it do between two tries?**

# %%
run = rebalance()
sequence_diagram(run)

# %%
tries = [span for span in run.calls() if span.begin.what == "_try_rebalance"]
for span in tries:
    print(f"{span.begin.who}: from {span.begin.time_ns / 1e6:6.1f} ms, {span.duration_ns / 1e6:5.1f} ms")
claims = [(span.begin.detail["owner"], span.begin.detail["partition"], span.end.detail["result"])
          for span in run.calls() if span.begin.what == "create_owner"]  # fmt: skip
for owner, partition, result in sorted(claims):
    print(f"{owner} claims partition {partition}: {'has it' if result else 'it is taken'}")

# %% [markdown]
# ## Members come and go
#
# Three members join, the first leaves. Look at the gaps: there nobody consumes the partition.

# %%
run = one_to_three()
ownership(run)

# %% [markdown]
# Nobody asked whether partition 0 had to move when c came. **How many of the four partitions kept their owner then, and
# how many of these were released and claimed again all the same?**

# %%
released = [event.detail for event in run if event.kind is Kind.CALL and event.what == "release_owner"]
print(len(released), "releases in all:", [f"{each['partition']} of {each['owner']}" for each in released])

# %% [markdown]
# ## Assigning
#
# Two consumers with a thread each; two topics with three partitions each. **Who has how many, with each strategy?**

# %%
both = {"C1": {"t": 1, "u": 1}, "C2": {"t": 1, "u": 1}}
for strategy in ("range", "roundrobin"):
    print(f"{strategy:10}", assign(strategy, both, {"t": 3, "u": 3}))

# %% [markdown]
# And with ten topics? The remainder of each goes to the first.

# %%
topics = {f"t{number}": 3 for number in range(10)}
many = {name: dict.fromkeys(topics, 1) for name in ("C1", "C2")}
for strategy in ("range", "roundrobin"):
    print(f"{strategy:10}", {thread: len(found) for thread, found in assign(strategy, many, topics).items()})

# %% [markdown]
# ## From the fetcher to the user
#
# The queue has room for one chunk, a fetch brings one message, and the user comes late. **Which offset moves when?**

# %%
run = queue_and_iterator()
sequence_diagram(run)

# %%
time_line(run)

# %% [markdown]
# ## Commits to ZooKeeper
#
# A message, a commit, another commit, a message, a commit. **How many writes?**

# %%
run = commit_to_zookeeper()
print([event.detail for event in run if event.kind is Kind.CALL and event.what == "set_offset"])
sequence_diagram(run)

# %% [markdown]
# ## A commit to both storages
#
# `offsets.storage=kafka`, with the dual commit that is its default. The coordinator has to be found first.

# %%
run = commit_to_both()
sequence_diagram(run)

# %%
spans = {span.begin.what: span.duration_ns / 1e6 for span in run.calls()}
for what in ("commit_offsets", "handle_commit_offsets", "append_as_leader", "set_offset"):
    print(f"{what:24} {spans[what]:6.2f} ms")

# %% [markdown]
# ## The low-level example
#
# `SimpleExample` reads two messages; the broker refuses the first fetch once. **How many connections does it open?**

# %%
run = low_level()
sequence_diagram(run)

# %%
print(sum(event.kind is Kind.PUT and event.what == "connection" for event in run), "connections")

# %% [markdown]
# ## Now you
#
# - Give a member two streams (`Member.join`), and let a second member join. Which thread owns which partition?
# - Set `rebalance.max.retries` to 1 for member b. What does `create_message_streams` raise, and what stays behind?
# - Make `fetch_message_max_bytes` in `queue_and_iterator` smaller than a message. What does the user get?
