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
# # Notebook: three state models, and instances that are killed
#
# *Book 8.2.1; its page is [Helix and its controller](ureplicator-controller.md).*
#
# A cluster of Helix runs in this process, step by step. The controller's pipeline and the participants' decisions are
# those of `kafka_lite.mirror.helix`. ZooKeeper is a dict. Before you run a cell that asks, answer it.

# %% [markdown] lang="zh"
# # 笔记本：三种状态模型，以及被杀死的实例
#
# 本书 8.2.1；相应的正文是 [Helix 和它的控制器](ureplicator-controller.md)。
#
# 一个 Helix 集群在本进程里一步一步地运行。控制器的流水线和参与者的决定都来自 `kafka_lite.mirror.helix`，
# ZooKeeper 是一个字典。单元格如果提出问题，请先回答，再运行。

# %%
from chapters.ch08_pipelines.figures import helix_figures
from chapters.ch08_pipelines.figures import helix_predictions as predictions
from chapters.ch08_pipelines.figures.helix_by_hand import HelixByHand
from kafka_learn.both_languages import InBothLanguages
from kafka_lite.mirror.helix.model.built_in_state_models import LEADER_STANDBY, MASTER_SLAVE, ONLINE_OFFLINE

{model.name: (dict(model.bounds), model.transitions) for model in (ONLINE_OFFLINE, MASTER_SLAVE, LEADER_STANDBY)}

# %% [markdown]
# Each model is a table: states with their bounds, and transitions. A bound of `R` is the number of replicas, `-1` means
# any number.
#
# ## OnlineOffline: an instance serves, or it does not
#
# Three partitions have one instance each. `step` lets the controller run once; then the instances carry out its
# messages.

# %% [markdown] lang="zh"
# 每个模型是一张表：状态和它们的上限，以及转换。上限 `R` 是副本数，`-1` 表示不限。
#
# ## OnlineOffline：一个实例提供服务，或者不提供
#
# 三个分区各有一个实例。`step` 让控制器运行一次，各实例随即执行它的消息。

# %%
cluster = HelixByHand(ONLINE_OFFLINE, predictions.ALONE)
cluster.start("a", "b", "c")
cluster.step(), cluster.states()

# %% [markdown]
# Now a dies. **How many messages does the controller send until it has nothing more to do?**

# %% [markdown] lang="zh"
# 现在 a 死了。**到无事可做为止，控制器一共发送多少条消息？**

# %%
answer = None
predictions.NOBODY.check(answer)

# %%
cluster.kill("a")
cluster.settle(), cluster.states()

# %% [markdown]
# Partition 0 is nowhere. When a comes back, it has a new session and starts from the initial state:

# %% [markdown] lang="zh"
# 分区 0 哪里都没有了。a 回来时会话是新的，从初始状态开始：

# %%
cluster.start("a")
cluster.settle(), cluster.states()

# %% [markdown]
# ## MasterSlave: one writes, the others follow
#
# Each partition has all three instances on its list, the best one first. The way from OFFLINE to MASTER has two
# transitions, and a replica has one message at a time. So it takes two steps.

# %% [markdown] lang="zh"
# ## MasterSlave：一个写，其余的跟随
#
# 每个分区的列表里都有三个实例，最好的排在最前。从 OFFLINE 到 MASTER 要两次转换，而一个副本同一时刻只有一条消息，
# 所以要两步。

# %%
InBothLanguages(helix_figures.master_slave)

# %%
cluster = HelixByHand(MASTER_SLAVE, predictions.IN_TURN)
cluster.start("a", "b", "c")
cluster.settle()

# %%
cluster.states()

# %% [markdown]
# a is killed: the MASTER of partition 0, and a SLAVE of the others. **How many messages are sent?**

# %% [markdown] lang="zh"
# 杀死 a：它是分区 0 的 MASTER，其他分区的 SLAVE。**会发送多少条消息？**

# %%
answer = None
predictions.PROMOTION.check(answer)

# %%
cluster.kill("a")
cluster.settle(), cluster.states()

# %% [markdown]
# a comes back. It is the best instance of partition 0, so it will be MASTER again. **After the second step, how many
# MASTERs does partition 0 have?**

# %% [markdown] lang="zh"
# a 回来了。它在分区 0 的列表里排第一，所以会重新成为 MASTER。**第二步之后，分区 0 有几个 MASTER？**

# %%
answer = None
predictions.BETWEEN.check(answer)

# %%
cluster.start("a")
[(messages, cluster.states()["0"]) for messages in iter(cluster.step, [])]

# %% [markdown]
# ## LeaderStandby: one works, the others wait
#
# The same table under other names: a STANDBY follows nobody, it only waits. **a and b are killed at once. How many
# partitions does c lead afterwards?**

# %% [markdown] lang="zh"
# ## LeaderStandby：一个工作，其余的等待
#
# 同一张表，只是名字不同：STANDBY 不跟随谁，只是等待。**同时杀死 a 和 b，之后 c 是多少个分区的 LEADER？**

# %%
answer = None
predictions.LAST.check(answer)

# %%
cluster = HelixByHand(LEADER_STANDBY, predictions.IN_TURN)
cluster.start("a", "b", "c")
cluster.settle()
cluster.kill("a", "b")
cluster.settle(), cluster.states()

# %% [markdown]
# Kill c, too, and start all three: who leads what, and after how many steps? The bounds are never broken on the way.
# The tests of `kafka_lite.mirror.helix` check that with random kills, in any order of the writes.

# %% [markdown] lang="zh"
# 再杀死 c，然后启动全部三个：谁是哪个分区的 LEADER，用了几步？一路上从不超出上限：`kafka_lite.mirror.helix`
# 的测试随机杀死实例、打乱写入的顺序来检验这一点。

# %%
cluster.kill("c")
cluster.start("a", "b", "c")
len(cluster.settle()), cluster.instances_in("LEADER")
