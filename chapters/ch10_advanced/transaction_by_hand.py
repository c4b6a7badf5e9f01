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
# # Notebook: a transaction by hand
#
# *Book 10.3; its page is [Transactions](transactions.md).*
#
# There is no producer here: we send its requests ourselves, one after the other, to two brokers, and look into the
# logs after each. Before most steps there is a question: write your answer in the place of `None` and run the cell. It
# says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：手工做一个事务
#
# 本书 10.3；相应的正文是[事务处理](transactions.md)。
#
# 这里没有生产者：它的请求由我们自己一个一个地发给两个 broker，每发一个就看看日志。多数步骤之前有一个问题：把答案写在
# `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import logging
import time

from chapters.ch06_storage.figures.segment_drawings import draw_bytes
from chapters.ch10_advanced.figures import transaction_predictions as predictions
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.transaction.transaction_log import read_value
from kafka_lite.log.producers.aborted_txn import ENTRY_SIZE, AbortedTxn
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.testing import Cluster

ONE = {f"transaction.state.log.{key}": 1 for key in ("num.partitions", "replication.factor", "min.isr")}
cluster = Cluster(ONE, brokers=2).start()
cluster.create_topic("accounts", partitions=2, replication_factor=1)
channels = [BlockingChannel("127.0.0.1", broker.port) for broker in cluster.brokers]
leaders = [cluster.brokers.index(cluster.leader_of("accounts", partition)) for partition in (0, 1)]
for channel in channels:
    channel.connect()
sorted(leaders)

# %% [markdown]
# Each broker leads one partition of `accounts`. Some errors mean *try again*: the coordinator is not ready, or it
# still writes the markers of the last transaction.
#
# ## Who coordinates
#
# Any broker says who coordinates an id: the leader of its partition of `__transaction_state`. The first question
# creates the topic.

# %% [markdown] lang="zh"
# 每个 broker 是 `accounts` 一个分区的主副本。有些错误的意思是“再试一次”：协调者还没有准备好，
# 或者还在写上一个事务的标记。
#
# ## 谁是协调者
#
# 任何 broker 都能说出一个 id 的协调者：`__transaction_state` 中它那个分区的主副本。第一次询问会创建这个主题。

# %%
AGAIN = {
    Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.NOT_COORDINATOR,
    Errors.CONCURRENT_TRANSACTIONS,
}


def ask(channel, request, version, error_of=lambda response: response.error_code):
    """Send a request until its error is not one that means "try again"."""
    while True:
        response = channel.exchange(request, version)
        error = Errors.for_code(error_of(response))
        if error not in AGAIN:
            return response, error.name
        time.sleep(0.02)


found, error = ask(channels[0], FindCoordinatorRequest(key="transfers", key_type=1), 3)
coordinator = channels[[broker.port for broker in cluster.brokers].index(found.port)]
print(error)

# %% [markdown]
# ## The producer's id
#
# A new id gets epoch 0. **Which one does it get if it asks again?**

# %% [markdown] lang="zh"
# ## 生产者的 id
#
# 新的事务 id 得到纪元 0。**再问一次，得到的是几？**

# %%
answer = None
predictions.EPOCH.check(answer)


# %%
def init():
    """InitProducerId; returns producer id and epoch."""
    request = InitProducerIdRequest(transactional_id="transfers", transaction_timeout_ms=60_000)
    response, error = ask(coordinator, request, 4)
    assert error == "NONE", error
    return response.producer_id, response.producer_epoch


first, again = init(), init()
producer = again
first[1], again[1], first[0] == again[0]

# %% [markdown]
# The id is the same, and the epoch has grown: a producer with epoch 0 is fenced already.
#
# ## Partitions, then records
#
# The coordinator learns of the partitions first. Then the records go to the leaders, one to each broker.

# %% [markdown] lang="zh"
# id 没有变，纪元增加了：带着纪元 0 的已经失效。
#
# ## 先是分区，再是记录
#
# 协调者先知道有哪些分区，然后记录发给各个主副本，每个 broker 一条。


# %%
def add(producer, *partitions):
    """AddPartitionsToTxn; returns the error of the first partition."""
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="transfers",
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="accounts", partitions=list(partitions))],
    )
    results = lambda response: response.results_by_topic_v3_and_below[0].results_by_partition  # noqa: E731
    return ask(coordinator, request, 3, lambda response: results(response)[0].partition_error_code)[1]


def produce(partition, value, producer=None, sequence=0):
    """Append one record; without a producer, outside of any transaction. Returns the error and the offset."""
    of_producer = {}
    if producer is not None:
        of_producer = {"producer_id": producer[0], "producer_epoch": producer[1], "base_sequence": sequence}
        of_producer["is_transactional"] = True
    builder = MemoryRecordsBuilder(**of_producer)
    builder.append(int(time.time() * 1000), None, value)
    data = PartitionProduceData(index=partition, records=builder.build())
    topic = TopicProduceData(name="accounts", partition_data=[data])
    name = None if producer is None else "transfers"
    request = ProduceRequest(transactional_id=name, acks=-1, timeout_ms=10_000, topic_data=[topic])
    response = channels[leaders[partition]].exchange(request, 7).responses[0].partition_responses[0]
    return Errors.for_code(response.error_code).name, response.base_offset


add(producer, 0, 1), produce(0, b"-100", producer), produce(1, b"+100", producer)

# %% [markdown]
# ## What readers see now
#
# A fetch says three things: the high watermark, the last stable offset (LSO), and the records up to one of the two.
# The high watermark of partition 0 is 1 now. **Where is its LSO?** And what is each kind of reader sent?

# %% [markdown] lang="zh"
# ## 读者此刻看到什么
#
# 一次拉取给出三样东西：高水位、最后稳定偏移量（LSO），以及到这两者之一为止的记录。分区 0 的高水位现在是 1。
# **LSO 是几？**

# %%
answer = None
predictions.STABLE.check(answer)


# %%
def fetch(partition, isolation_level):
    """The partition's part of a fetch from offset 0: 0 reads all, 1 what is decided."""
    wanted = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="accounts", partitions=[wanted])
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, isolation_level=isolation_level, topics=[topic]
    )
    return channels[leaders[partition]].exchange(request, 11).responses[0].partitions[0]


def show(partition):
    """High watermark, LSO, and the values that each kind of reader is sent."""
    for name, level in (("read_uncommitted", 0), ("read_committed", 1)):
        data = fetch(partition, level)
        sent = list(batches(bytes(data.records or b"")))
        values = [record.value.decode() for batch in sent if not batch.is_control for record in batch.records()]
        aborted = [each.first_offset for each in data.aborted_transactions or ()]
        print(f"{name:17} HW {data.high_watermark}  LSO {data.last_stable_offset}  {values}  aborted from: {aborted}")


show(0)

# %% [markdown]
# ## The decision
#
# EndTxn returns when the decision is written. The markers follow.

# %% [markdown] lang="zh"
# ## 决定
#
# 决定写好，EndTxn 就返回。标记随后写入。


# %%
def end(producer, committed):
    """EndTxn."""
    request = EndTxnRequest(
        transactional_id="transfers", producer_id=producer[0], producer_epoch=producer[1], committed=committed
    )
    return ask(coordinator, request, 3)[1]


def wait_for(*ends):
    """Wait until the markers are replicated: each partition's LSO must be at its end."""
    while [fetch(partition, 1).last_stable_offset for partition in range(len(ends))] != list(ends):
        time.sleep(0.02)


print(end(producer, committed=True))
wait_for(2, 2)
show(0)

# %% [markdown]
# One record, but two offsets: the marker takes offset 1. It is a record in a *control batch*, which no consumer
# returns. Below are the last bytes of the log, from the record's key on: key and value of the marker. The key has a
# version and a type, two bytes each. Commit and abort are 1 and 0, or 0 and 1. **Which type is a commit?**

# %% [markdown] lang="zh"
# 一条记录，却有两个偏移量：偏移量 1 是标记。它是**控制批次**里的一条记录，没有消费者会返回它。
# 下面是日志最后的字节，从这条记录的键开始：标记的键和值。键由版本和类型组成，各两个字节。提交和中止，编号是 1 和 0，
# 或者 0 和 1。**提交是几？**

# %%
answer = None
predictions.TYPE.check(answer)

# %%
log = bytes(fetch(0, 0).records)
draw_bytes(
    log[-13:],
    [
        ("key length", 1),
        ("version", 2),
        ("type", 2),
        ("value length", 1),
        ("version", 2),
        ("coordinator epoch", 4),
        ("headers", 1),
    ],
)

# %% [markdown]
# Lengths are zig-zag varints: `08` is 4, `0c` is 6. The type is 1, commit; 0 is abort.
#
# ## The coordinator's log
#
# Everything that happened is in `__transaction_state`. Which record is the decision, and **how many are there so far?**

# %% [markdown] lang="zh"
# 长度是 zig-zag 变长整数：`08` 是 4，`0c` 是 6。类型是 1，即提交；0 是中止。
#
# ## 协调者的日志
#
# 发生过的一切都在 `__transaction_state` 里。哪一条是决定？**到现在一共有几条记录？**

# %%
answer = None
predictions.RECORDS.check(answer)


# %%
def states():
    """The states of the id, in order."""
    for record in cluster.records("__transaction_state"):
        state = read_value(record.value)
        partitions = " ".join(sorted(map(str, state.topic_partitions)))
        print(f"{record.offset}  epoch {state.producer_epoch}  {state.state.title:15} {partitions}")


cluster.wait_for_records("__transaction_state", 5)
states()

# %% [markdown]
# ## An aborted transaction
#
# Now -7 and +7, and then an abort. Nothing is deleted. So how does a reader know what to skip? Each segment has an
# index of aborted transactions, and a fetch lists those of its range.

# %% [markdown] lang="zh"
# ## 中止的事务
#
# 现在是 -7 和 +7，然后中止。什么都不会删除。那么读者怎么知道该跳过什么？每个分段都有已中止事务的索引，
# 拉取会列出它那个范围里的。

# %%
print(
    add(producer, 0, 1), produce(0, b"-7", producer, 1), produce(1, b"+7", producer, 1), end(producer, committed=False)
)
wait_for(4, 4)
show(0)
(index,) = cluster.data_dir.rglob("accounts-0/*.txnindex")
entry, *_ = AbortedTxn.read_all(index.read_bytes())
print("index:", index.stat().st_size == ENTRY_SIZE, entry.first_offset, entry.last_offset, entry.last_stable_offset)

# %% [markdown]
# The reader gets -7, too, and drops it: the list says that the transaction of this producer which begins at 2 was
# aborted. (`show` prints what the broker *sends*. A consumer *returns* only -100.) The entry of the index has the first
# offset, that of the marker, and the LSO after it.
#
# ## Behind an open transaction
#
# A transaction begins, and then somebody else writes `x`, in no transaction. **Who can read x: `"both"` kinds of
# readers, only `"read_uncommitted"`, or `"nobody"`?**

# %% [markdown] lang="zh"
# 读者也得到 -7，然后丢掉它：列表说，这个生产者从 2 开始的事务已经中止。（`show` 打印的是 broker **发来**的，
# 消费者**返回**的只有 -100。）索引条目里有第一个偏移量、标记的偏移量，以及此后的 LSO。
#
# ## 在未结束的事务后面
#
# 一个事务开始了，然后别人写入 `x`，不属于任何事务。**谁能读到 x：两种读者都能（`"both"`），只有 `"read_uncommitted"`，
# 还是谁也不能（`"nobody"`）？**

# %%
answer = None
predictions.BEHIND.check(answer)

# %%
print(add(producer, 0), produce(0, b"-1", producer, 2), produce(0, b"x"))
show(0)

# %% [markdown]
# The LSO stays at 4, the first offset of the open transaction, and so x waits, too: offsets are read in order.
#
# ## A zombie
#
# Our producer stops here, in the middle of its transaction. Another program starts with the same id. What happens
# to the open transaction, and **which epoch does the new program get?**

# %% [markdown] lang="zh"
# LSO 停在 4，即未结束的事务的第一个偏移量，所以 x 也要等：偏移量是按顺序读的。
#
# ## 僵尸
#
# 我们的生产者停在这里，事务做到一半。另一个程序用同样的 id 启动。未结束的事务会怎样？**新的程序得到哪个纪元？**

# %%
answer = None
predictions.HEIR.check(answer)

# %%
zombie, producer = producer, init()
print("zombie: epoch", zombie[1], " its heir: epoch", producer[1])
wait_for(7, 4)
states()
show(0)

# %% [markdown]
# The epoch went up twice: once for the abort, whose marker carries it into the partition, and once for the heir. x
# can be read now.
#
# Then the zombie wakes up, and knows nothing. What does each of its requests get, and **which error has its
# Produce: `"NONE"`, `"PRODUCER_FENCED"` or `"INVALID_PRODUCER_EPOCH"`?**

# %% [markdown] lang="zh"
# 纪元提高了两次：一次为了中止，它的标记把新的纪元带到分区里；另一次为了继任者。x 现在可以读了。
#
# 然后僵尸醒来，什么都不知道。它的每个请求得到什么？**Produce 的错误是 `"NONE"`、`"PRODUCER_FENCED"`，还是
# `"INVALID_PRODUCER_EPOCH"`？**

# %%
answer = None
predictions.ZOMBIE.check(answer)

# %%
print("Produce:            ", produce(0, b"too late", zombie, 3))
print("AddPartitionsToTxn: ", add(zombie, 1))
print("EndTxn:             ", end(zombie, committed=True))
print("the heir:           ", add(producer, 0), produce(0, b"-50", producer), end(producer, committed=True))
wait_for(9, 4)
show(0)

# %% [markdown]
# The partition refuses the zombie's record by the epoch of the marker, the coordinator its requests by that of the
# heir. The program with the zombie can only start again.
#
# Here is all of partition 0, batch by batch: -100, a marker, -7, a marker, -1, x, a marker, -50, a marker. **How many
# of these records does a consumer with `read_committed` return?**

# %% [markdown] lang="zh"
# 分区凭标记的纪元拒绝僵尸的记录，协调者凭继任者的纪元拒绝它的请求。带着僵尸的程序没有别的办法，只能重新启动。
#
# 下面是分区 0 的全部内容，一个批次一行：-100、标记、-7、标记、-1、x、标记、-50、标记。**用 `read_committed` 的消费者
# 会返回其中的几条记录？**

# %%
answer = None
predictions.RETURNED.check(answer)

# %%
for batch in batches(bytes(fetch(0, 0).records)):
    (record,) = batch.records()
    what = ControlRecordType.parse(record.key).name if batch.is_control else record.value.decode()
    print(f"{batch.base_offset}  epoch {batch.producer_epoch:2}  transactional {batch.is_transactional!s:5}  {what}")

# %% [markdown]
# -100, x and -50. Now change something that matters: end the first transaction with `committed=False`, or produce `x`
# before the transaction in front of it begins, and say first what each `show` will print.
#
# To write what you have seen, there are labs: [the states of a
# transaction](../../labs/ch10-coordinator-states.md), [a fenced zombie](../../labs/ch10-fenced-zombie.md) and [read
# committed](../../labs/ch10-read-committed.md).

# %% [markdown] lang="zh"
# -100、x 和 -50。现在改一处要紧的地方：让第一个事务以 `committed=False` 结束，或者在前面那个事务开始之前写 `x`，
# 先说出每次 `show` 会打印什么。
#
# 看到的这些可以在实验里自己写：[事务的状态](../../labs/ch10-coordinator-states.md)、
# [被隔离的僵尸](../../labs/ch10-fenced-zombie.md)和[读已提交](../../labs/ch10-read-committed.md)。

# %%
for channel in channels:
    channel.close()
logging.disable()  # a broker that stops would complain that the other one has stopped
cluster.stop()
