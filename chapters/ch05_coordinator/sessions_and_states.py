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
# # Notebook: sessions and states
#
# *Book 5.2 and 5.4; the text to it is [The coordinator's requests](requests.md) and [The group's state
# machine](group-states.md).*
#
# The clock of the broker in this notebook can be put forward, while its clients live in ours. So a session of ten
# seconds ends within a moment. Before you run a cell that ends in a question, answer it.

# %%
import logging

from IPython.display import Markdown

from kafka_lite.coordinator.group.group_state import VALID_PREVIOUS_STATES
from kafka_lite.learn import group_figures
from kafka_lite.learn.group_by_hand import GroupByHand
from kafka_lite.learn.group_runs import commit_in_a_rebalance, late_heartbeat, late_join
from kafka_lite.learn.recorded_run import Kind
from kafka_lite.learn.sequence_diagram import sequence_diagram
from kafka_lite.learn.state_machines import draw_states
from kafka_lite.testing import Cluster

logging.getLogger("kafka_lite.consumer").setLevel(logging.CRITICAL)  # we make go wrong what it would tell of

# %% [markdown]
# ## The table
#
# **Which of the arrows does a single member's join and leave walk along?**

# %%
draw_states(VALID_PREVIOUS_STATES)

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann = group.member("ann")
    for request in (ann.join, lambda: ann.sync({ann: b"all"}), ann.heartbeat, ann.join, ann.leave):
        print(f"{request()!s:45} {group}")

# %% [markdown]
# The state `PREPARING_REBALANCE` is not to be seen: a member that is alone is everybody, and its own JoinGroup
# completes the DelayedJoin. But the generation tells: each join began one, and so did the leaving.
#
# ## Every request in every state
#
# Each cell is asked of a broker, now. Cover the table and fill in the row of OffsetCommit first.

# %%
Markdown(group_figures.answers("en"))

# %% [markdown]
# ## A commit in the middle of a rebalance
#
# *ann* commits in `on_partitions_revoked`. **With which generation? What is the group's state, and is the commit
# taken?**

# %%
sequence_diagram(commit_in_a_rebalance())

# %% [markdown]
# The same by hand, and one step further: commits of the old generation and of the new one, before and after it has
# begun.

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann, bob = group.member("ann"), group.member("bob")
    ann.join()
    ann.sync({ann: b"all"})
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(10).answer}")
    bob.join()
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(20).answer}")
    ann.join()
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(30).answer}")
    ann.generation_id -= 1
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(40).answer}")
    ann.generation_id += 1
    ann.sync({ann: b"0 1", bob: b"2 3"})
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(50).answer}")

# %% [markdown]
# ## A heartbeat that comes too late
#
# *bob*'s process stands still, and twelve seconds pass in the broker; *ann* lives. **What is the first thing that tells
# bob? What becomes of what he has read?**

# %%
run = late_heartbeat()
sequence_diagram(run)

# %%
taken = next(e.time_ns for e in run if e.who == "ann" and e.what.startswith("on_join_complete"))
told = next(e.time_ns for e in run if e.who == "bob" and e.what == "Heartbeat answer" and e.kind is Kind.TAKE)
print(f"for {(told - taken) / 1e6:.1f} ms both believed that partitions 2 and 3 were theirs")

# %% [markdown]
# Here *bob* is woken up as soon as *ann* has his partitions. It could be an hour as well. The group cannot keep him
# from believing; it can keep him from committing.
#
# ## A member that is alive and does not join
#
# *ann*'s heartbeats are in time, but her own thread is busy. **What ends the others' waiting, and when?**

# %%
run = late_join()
sequence_diagram(run)

# %% [markdown]
# ## Which timeout?
#
# One session of ten seconds, one of thirty; rebalance timeouts of sixty and of twenty. *ann* sends heartbeats for a
# while and does not join; *bob* joins and does not sync. **Guess the three times before you run it.**

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann = group.member("ann", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
    bob = group.member("bob", session_timeout_ms=30_000, rebalance_timeout_ms=20_000)
    ann.join()
    bob.join()
    passed = 0
    for seconds, member, expected in (
        (8, ann, None),
        (8, ann, None),
        (12, None, "AWAITING_SYNC"),
        (15, bob, None),
        (10, None, "EMPTY"),
    ):
        cluster.time.advance(seconds=seconds)
        passed += seconds
        if expected:
            group.wait_for(expected)
        said = member.heartbeat() if member else ""
        print(f"{passed:3} s  {said!s:28} {group}")

# %% [markdown]
# *ann* was put out by her session, after she stopped sending heartbeats: her rebalance timeout would have kept the
# group waiting for half a minute more. *bob* was put out by his rebalance timeout, as one that never asked for his
# part.
#
# ## Now you
#
# - Let *ann* go on sending heartbeats in the last cell, every eight seconds. When does the wait end?
# - Give *bob* the version 4 of JoinGroup (`group.member("bob", version=4)`). What is the state of the group between his
#   two joins, and what does a DelayedJoin wait for that would be complete without him?
