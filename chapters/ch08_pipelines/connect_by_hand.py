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
# # Notebook: a worker, and all that one can say to it
#
# *Book 8.3; its pages begin with [Using and writing connectors](connectors.md).*
#
# A broker and a worker start in this process. Everything else is HTTP, as with curl: connectors are created, paused,
# broken, restarted and deleted. Before most steps there is a question: write your answer in the place of `None` and run
# the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：一个工作进程，以及能对它说的一切
#
# 本书 8.3；相应的正文从[使用和编写连接器](connectors.md)开始。
#
# 一个 broker 和一个工作进程在本进程里启动，其余都是 HTTP，与 curl 一样：创建、暂停、弄坏、重启和删除连接器。
# 多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import json
import logging
import tempfile
import time
from pathlib import Path

from chapters.ch08_pipelines.figures import predictions, worker_predictions
from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.connect.runtime.new_connect import new_standalone_connect
from kafka_lite.connect.runtime.storage.java_hash_map import dump
from kafka_lite.connect.runtime.tasks import worker_task
from kafka_lite.testing import Cluster

logging.disable(logging.CRITICAL)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
cluster = Cluster({"group.initial.rebalance.delay.ms": 0}).start()
PROPS = worker_predictions.worker_props(cluster.bootstrap_servers, folder)
connect = new_standalone_connect(PROPS)
connect.start()
connect.rest.advertised_url.startswith("http://127.0.0.1:")

# %% [markdown]
# `call` is curl with less to type. The first call is the first one of the book: it asks for the connectors.

# %% [markdown] lang="zh"
# `call` 就是少打几个字的 curl。第一个调用就是书里的第一个：列出连接器。


# %%
def call(method, path, body=None):
    """Send a request; return the status of the response and what its JSON contains."""
    return worker_predictions.call(connect.rest.advertised_url, method, path, body)


def eventually(look, wanted):
    """Look until it is so."""
    while (found := look()) != wanted:
        time.sleep(0.02)
    return found


call("GET", "/connectors"), [each["class"].rpartition(".")[2] for each in call("GET", "/connector-plugins")[1]]

# %% [markdown]
# ## A file into a topic into a file
#
# Two connectors, each a map of texts. A POST creates one; its tasks are in the response. **Which HTTP status does the
# response have?**

# %% [markdown] lang="zh"
# ## 从文件到主题，再到文件
#
# 两个连接器，各是一组文本。用 POST 创建，响应里有它的任务。**响应的 HTTP 状态码是多少？**

# %%
answer = None
worker_predictions.CREATION.check(answer)

# %%
cluster.create_topic("lines")
(folder / "in.txt").write_bytes(predictions.LINES)
source = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": "lines"}
sink = {"connector.class": "FileStreamSink", "file": str(folder / "out.txt"), "topics": "lines"}
created = [
    call("POST", "/connectors", {"name": name, "config": config}) for name, config in (("in", source), ("out", sink))
]
eventually(
    lambda: (folder / "out.txt").read_text().split() if (folder / "out.txt").exists() else [],
    ["one", "two", "three", "four"],
)
[(status, answer["name"], answer["tasks"]) for status, answer in created]

# %%
status, answer = call("GET", "/connectors/in/status")
answer["connector"]["state"], [(task["id"], task["state"]) for task in answer["tasks"]]

# %% [markdown]
# The task of a sink is a consumer of the group `connect-out`. The source's offset is in a file, in the format of
# Java's worker: the last bytes are JSON.

# %% [markdown] lang="zh"
# 接收任务是消费组 `connect-out` 的一个消费者。源端的偏移量在一个文件里，格式与 Java 的工作进程相同：末尾的字节是 JSON。

# %%
eventually(lambda: b'{"position":19}' in (folder / "connect.offsets").read_bytes(), True)

# %% [markdown]
# A task's states, and which may follow which, are a table:

# %% [markdown] lang="zh"
# 任务有哪些状态，哪个之后可以是哪个，是一张表：

# %%
draw_states(worker_task.VALID_PREVIOUS_STATES)

# %% [markdown]
# ## Wishes and errors
#
# A pause is a wish: 202, and it happens soon. An error is JSON, with Kafka's code and words. The connector `in` is
# paused. Then come six calls:
#
# - GET of a connector that does not exist,
# - POST of a connector with the name `in` again,
# - POST of a source connector that has neither file nor topic,
# - PUT of a configuration of `in` that contains another name,
# - a restart of `in`,
# - a resume of `in`.
#
# **How many of them fail, that is, have a status of 400 or more?**

# %% [markdown] lang="zh"
# ## 愿望与错误
#
# 暂停是一个愿望：返回 202，随后照办。错误是 JSON，编号和用语与 Kafka 的相同。连接器 `in` 已经暂停，然后是六个调用：
#
# - 查询一个不存在的连接器；
# - 再用 POST 创建一个名为 `in` 的连接器；
# - 用 POST 创建一个源连接器，文件和主题都没有写；
# - 用 PUT 写 `in` 的配置，里面是另一个名字；
# - 重启 `in`；
# - 恢复 `in`。
#
# **其中几个会失败，也就是状态码在 400 以上？**

# %%
answer = None
worker_predictions.FAILING.check(answer)

# %% [markdown]
# **And which status has the response to the second POST of `in`?**

# %% [markdown] lang="zh"
# **再用 POST 创建 `in`，响应的状态码是多少？**

# %%
answer = None
worker_predictions.TAKEN.check(answer)

# %%
paused = call("PUT", "/connectors/in/pause")
eventually(lambda: [task["state"] for task in call("GET", "/connectors/in/status")[1]["tasks"]], ["PAUSED"])
for method, path, body in worker_predictions.calls(source):
    status, answer = call(method, path, body)
    print(status, method, path, (answer or {}).get("message", "").partition("\n")[0])

# %% [markdown]
# ## Tasks
#
# A folder with three files, and `tasks.max` is 10. How many tasks does the connector of
# [examples/csv_source](connectors.md) get?

# %% [markdown] lang="zh"
# ## 任务
#
# 一个目录里有三个文件，`tasks.max` 是 10。
# [examples/csv_source](connectors.md) 的连接器得到几个任务？

# %%
answer = None
predictions.TASKS.check(answer)

# %%
(folder / "csv").mkdir()
for name in predictions.FILES:
    (folder / "csv" / name).write_text("name\nfirst\nsecond\n")
cluster.create_topic("rows")
rows = {
    "connector.class": "examples.csv_source.csv_source_connector.CsvSourceConnector",
    "folder": str(folder / "csv"),
    "topic": "rows",
    "tasks.max": str(predictions.TASKS_MAX),
}
status, answer = call("PUT", "/connectors/rows/config", rows)
for task in call("GET", "/connectors/rows/tasks")[1]:
    print(task["id"]["task"], task["config"]["files"])

# %% [markdown]
# ## A connector breaks
#
# Its folder is gone. The connector fails in `start`; then a user pauses it and resumes it. In which state is it?
# (`FAILED`, `PAUSED` or `STARTED`.)

# %% [markdown] lang="zh"
# ## 一个连接器坏了
#
# 它的目录没有了。连接器在 `start` 里失败，之后用户暂停它，又恢复它。它处于什么状态？
# （`FAILED`、`PAUSED` 或 `STARTED`。）

# %%
answer = None
predictions.PAUSED.check(answer)

# %%
states = []
for method, path, body in (
    ("PUT", "/connectors/rows/config", {**rows, "folder": str(folder / "gone")}),
    ("PUT", "/connectors/rows/pause", None),
    ("PUT", "/connectors/rows/resume", None),
    ("PUT", "/connectors/rows/config", rows),
):
    call(method, path, body)
    states.append(call("GET", "/connectors/rows/status")[1]["connector"]["state"])
print(*states)

# %% [markdown]
# Only the right configuration helped: it made another connector object. The tasks of the broken connector were left
# alone all the time.
#
# ## A worker is killed
#
# The worker has copied all four lines, and stored the position 8, the end of `two`. Then it dies. How many lines are
# in the topic when the next one has read everything?

# %% [markdown] lang="zh"
# 只有正确的配置才管用：它另建了一个连接器对象。坏掉的连接器的任务，始终没有动过。
#
# ## 一个工作进程被杀死
#
# 工作进程复制了全部四行，保存的位置是 8，也就是 `two` 的末尾。这时它死了。下一个工作进程读完之后，主题里有几行？

# %%
answer = None
predictions.AGAIN.check(answer)

# %%
connect.stop()
(folder / "connect.offsets").write_bytes(
    dump({json.dumps(["in", {"filename": source["file"]}], separators=(",", ":")).encode(): b'{"position":8}'})
)
connect = new_standalone_connect(PROPS)
connect.start()
call("POST", "/connectors", {"name": "in", "config": source})
call("POST", "/connectors", {"name": "out", "config": sink})
eventually(lambda: len((folder / "out.txt").read_text().split()), predictions.AGAIN.right())
(folder / "out.txt").read_text().split()

# %% [markdown]
# At least once. The connectors had to be created again: by itself a worker keeps configurations in memory only.
#
# ## Deleted

# %% [markdown] lang="zh"
# 至少一次。连接器要重新创建：单独的工作进程只把配置放在内存里。
#
# ## 删除

# %%
deleted = [call("DELETE", f"/connectors/{name}")[0] for name in ("in", "out")]
deleted, call("GET", "/connectors"), call("GET", "/connectors/in/status")[0]

# %%
connect.stop()
cluster.stop()
temporary.cleanup()
