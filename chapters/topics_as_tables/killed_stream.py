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
# # Notebook: a stream that is killed and comes back
#
# *Its page is [Where exactly once begins and ends](exactly-once.md).*
#
# A query writes a batch to its table, and its process is killed with `kill -9` before Spark can commit the batch.
# Before each run there is a question: write your answer in the place of `None` and run the cell. It says whether you
# are right, and why. Starting Spark takes some seconds, and it is started twice.

# %% [markdown] lang="zh"
# # 笔记本：一个被杀掉之后又恢复的流
#
# **相应的正文是[恰好一次：从哪里开始，到哪里为止](exactly-once.md)。**
#
# 一个查询把一批写进表里；在 Spark 提交这一批之前，它的进程被 `kill -9` 杀掉。
# 每次运行之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。启动 Spark 需要几秒钟，
# 一共启动两次。

# %%
import tempfile
from pathlib import Path

from chapters.topics_as_tables.figures import copied_stream
from chapters.topics_as_tables.figures import killed_predictions as predictions
from chapters.topics_as_tables.figures.recorded_stream import send
from kafka_lite.testing import Cluster
from pipeline.events import FLIGHTS
from pipeline.sinks import read_table

folder = Path(tempfile.mkdtemp())
cluster = Cluster().start()
cluster.create_topic(FLIGHTS.topic, configs={"retention.ms": "-1"})

# %% [markdown]
# ## Killed between its sink and its commit
#
# The query is a program of its own: it reads the topic and writes each batch to a table. With `kill=True` it sends
# itself SIGKILL in the sink, after the rows of the first batch are in the table. The driver is gone at once, and
# nothing is closed. Three flights are in the topic. Which files does the checkpoint have, and **how many rows does the
# table have?**

# %% [markdown] lang="zh"
# ## 在输出端与提交之间被杀掉
#
# 这个查询是一个独立的程序：它读主题，把每一批写进表里；
# `kill=True` 时，第一批的行一进表，它就在输出端里给自己发 SIGKILL。
# 驱动进程立刻消失，什么都来不及关闭。主题里有三趟航班。检查点里有哪些文件？**表里有几行？**

# %%
answer = None
predictions.WRITTEN.check(answer)

# %%
send(cluster.bootstrap_servers, predictions.SENT)
print("exit code:", copied_stream.run(cluster.bootstrap_servers, folder, kill=True))
print(read_table(copied_stream.table(folder)).to_string())

# %%
copied_stream.draw(folder)

# %% [markdown]
# ## The checkpoint, opened
#
# The last line of `offsets/0` says how far the batch reads. It was written before the batch ran, and that is why the
# batch will be the same when it runs again.

# %% [markdown] lang="zh"
# ## 打开检查点
#
# `offsets/0` 的最后一行说明这一批读到哪里。它在这一批运行之前就写好了，所以再次运行时，这一批还是同一批。

# %%
print((copied_stream.checkpoint(folder) / "offsets" / "0").read_text().splitlines()[-1])

# %% [markdown]
# ## It comes back
#
# Two more flights have come in the meantime. In which batches are the rows, and **how many does the table have?**

# %% [markdown] lang="zh"
# ## 恢复
#
# 这期间又来了两趟航班。各行在哪些批次？**表里一共有几行？**

# %%
answer = None
predictions.AFTERWARDS.check(answer)

# %%
send(cluster.bootstrap_servers, predictions.LATER)
print("exit code:", copied_stream.run(cluster.bootstrap_servers, folder))
print(read_table(copied_stream.table(folder)).to_string())

# %%
copied_stream.draw(folder)

# %% [markdown]
# Now change something that matters: put `kill=True` into the second run as well, or delete `offsets/0` before it. Say
# first which rows the table has then.

# %% [markdown] lang="zh"
# 现在改一处要紧的地方：第二次运行也加上 `kill=True`，或者在它之前删掉 `offsets/0`。先说出那时表里有哪些行。

# %%
cluster.stop()
