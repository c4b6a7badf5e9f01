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
# # Notebook: topics as data frames
#
# *Its page is [The source: a consumer without a group](source.md).*
#
# A day of flights goes into a topic, and Spark reads the topic as a table. Before each step there is a question: write
# your answer in the place of `None` and run the cell. It says whether you are right, and why. Starting Spark takes some
# seconds.

# %% [markdown] lang="zh"
# # 笔记本：把主题当作数据框
#
# **相应的正文是[数据源：没有消费组的消费者](source.md)。**
#
# 一天的航班写进一个主题，Spark 把这个主题当作一张表来读。
# 每一步之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。启动 Spark 需要几秒钟。

# %%
import json

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from chapters.topics_as_tables.figures import frame_predictions as predictions
from chapters.topics_as_tables.figures import task_ranges
from kafka_lite.spark.session import session
from kafka_lite.testing import Cluster
from pipeline.events import FLIGHTS, TOPIC_CONFIG, encode
from pipeline.nycflights import load_flights
from pipeline.topics import EventProducer

flights = load_flights()
day = flights[(flights.month == 7) & (flights.day == 1)]
cluster = Cluster().start()
cluster.create_topic(FLIGHTS.topic, partitions=2, configs=TOPIC_CONFIG)


def send(rows):
    producer = EventProducer(cluster.bootstrap_servers)
    for event in encode(FLIGHTS, rows):
        producer.send(event)
    producer.flush()


send(day)
spark = session(master="local[2]", config={"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"})


def read(**options):
    reader = spark.read.format("kafka_lite").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    return reader.options(subscribe=FLIGHTS.topic, **options).load()


# %% [markdown]
# ## A table with two columns of its own, and four of Kafka's
#
# Keys and values are bytes: Kafka does not know what is in them, and neither does the source.

# %% [markdown] lang="zh"
# ## 一张表：两列是自己的，其余是 Kafka 的
#
# 键和值都是字节：Kafka 不知道里面是什么，数据源也不知道。

# %%
topic = read()
topic.printSchema()
key, value = F.col("key").cast("string").alias("key"), F.col("value").cast("string")
topic.select("partition", "offset", "timestamp", key, F.substring(value, 1, 40).alias("value")).show(4, truncate=False)

# %% [markdown]
# A schema turns the values into columns. Does Spark find the same mean delays in the topic as pandas in the file? Some
# flights never left, and their `dep_delay` is null. **How do these enter the mean: as `"zero"`, are they `"skipped"`,
# or does the mean become `"null"`?**

# %% [markdown] lang="zh"
# 有了模式，值就变成了列。Spark 从主题里算出的平均延误，与 pandas 从文件里算出的一样吗？有的航班没有起飞，`dep_delay` 是
# 空值。**算平均值时，空值当作零（`"zero"`），跳过（`"skipped"`），还是使平均值也成为空值（`"null"`）？**

# %%
answer = None
predictions.MEAN.check(answer)

# %%
columns = topic.select("partition", "offset", F.from_json(value, FLIGHTS.schema).alias("flight"))
delays = columns.select("flight.*").groupBy("origin").agg(F.avg("dep_delay").alias("delay"), F.count("*").alias("rows"))
print(delays.orderBy("origin").toPandas().round(3).to_string(index=False))
print(day.groupby("origin").agg(delay=("dep_delay", "mean"), rows=("flight", "size")).round(3).to_string())

# %% [markdown]
# The answers agree. The order of rows says nothing: two tasks read two partitions side by side.
#
# ## Who reads what
#
# The topic has two partitions, with 467 and 499 rows. **How many tasks does the query have?**

# %% [markdown] lang="zh"
# 结果一致。行的顺序没有意义：两个任务并行地读两个分区。
#
# ## 谁读哪一段
#
# 主题有两个分区，467 行和 499 行。**这个查询有几个任务？**

# %%
answer = None
predictions.TASKS.check(answer)

# %%
task_ranges.draw(topic)

# %% [markdown]
# **And how many with `minPartitions` 6?**

# %% [markdown] lang="zh"
# **`minPartitions` 为 6 时有几个？**

# %%
answer = None
predictions.MORE_TASKS.check(answer)

# %%
task_ranges.draw(read(minPartitions="6"))

# %% [markdown]
# A group of consumers could not do that: a partition belongs to one member. A task only has its range.
#
# ## A name for a batch
#
# Offsets name a piece of the table for good. The topic grows after the first line. Then four frames are counted: a new
# one, one whose end is written down as offsets, one that was made and counted before, and one that was made before but
# never read. **How many of the four see the new rows?**

# %% [markdown] lang="zh"
# 消费组做不到这一点：一个分区只属于一个成员。而任务只有自己的一段范围。
#
# ## 给一批数据命名
#
# 偏移量可以永远指明表的一部分。打印第一行之后，主题又增长了。然后数四个数据框的行：一个是新建的，一个的终点是写下的偏移
# 量，一个是之前建立并数过的，一个是之前建立、从未读过的。**四个里有几个看得到新的行？**

# %%
answer = None
predictions.NEW_ROWS.check(answer)

# %%
first_ten = {
    "startingOffsets": json.dumps({FLIGHTS.topic: {"0": 0, "1": 0}}),
    "endingOffsets": json.dumps({FLIGHTS.topic: {"0": 5, "1": 5}}),
}
unread = read()
print("before:", read().count(), read(**first_ten).count())
send(flights[(flights.month == 7) & (flights.day == 2)])
print("after: ", read().count(), read(**first_ten).count())
print("a frame that was made and read before:", topic.count())
print("a frame that was made before, and never read:", unread.count())

# %% [markdown]
# A frame looks "the latest" up when it runs for the first time, and keeps it: what was read once stays as it was.
# (Spark's own connector looks it up again for each action.) A batch whose end is written down is the same for every
# frame and forever, and writing it down is what a checkpoint does.
#
# ## The newest record of each key
#
# A key always goes to the same partition, so its records have an order: their offsets. One frame takes the record with
# the largest offset of each key, `by_offset`, the other one the latest `time_hour`, `by_event_time`. **Which of them
# would be wrong if the topic got a third partition in between: `"by_offset"`, `"by_event_time"`, `"both"` or
# `"neither"`?**

# %% [markdown] lang="zh"
# 数据框在第一次执行时查“最新”，之后就不再变：读过一次的内容保持原样。（Spark 自带的连接器每次执行都重新查。）
# 写下了终点的一批，对每个数据框都一样，而且永远不变；检查点做的就是写下终点。
#
# ## 每个键的最新记录
#
# 同一个键总是进同一个分区，所以它的记录有先后：就是偏移量。数据框 `by_offset` 取每个键偏移量最大的记录，`by_event_time`
# 取最晚的 `time_hour`。**如果中途给主题加上第三个分区，哪一个会出错：`"by_offset"`、`"by_event_time"`、两个都错
# （`"both"`），还是都不错（`"neither"`）？**

# %%
answer = None
predictions.WRONG.check(answer)

# %%
latest = read().select(key, "partition", "offset", F.from_json(value, FLIGHTS.schema).alias("flight"))
by_offset = latest.groupBy("key").agg(F.max_by("flight.time_hour", "offset").alias("last_seen"))
by_event_time = latest.groupBy("key").agg(F.max("flight.time_hour").alias("last_seen"))
print("keys:", by_offset.count(), "  both frames agree:", by_offset.exceptAll(by_event_time).isEmpty())

# %% [markdown]
# `by_offset`: a new partition counts from 0, so offsets of one key in two partitions cannot be compared.
#
# ## Offsets are not records
#
# The broker deletes the first 100 records of partition 0. The query with the ten rows, five of each partition, fails
# now, but not with `failOnDataLoss=false`. **How many rows does it find then?**

# %% [markdown] lang="zh"
# 是 `by_offset`：新分区从 0 开始计数，同一个键在两个分区里的偏移量无法比较。
#
# ## 偏移量不是记录数
#
# broker 删掉分区 0 最前面的 100 条记录。读那十行（每个分区五行）的查询现在会失败；加上 `failOnDataLoss=false` 就不会。
# **这时它找到几行？**

# %%
answer = None
predictions.LEFT.check(answer)

# %%
admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
admin.delete_records([TopicPartition(FLIGHTS.topic, 0, 100)])[TopicPartition(FLIGHTS.topic, 0)].result()
read().groupBy("partition").agg(F.min("offset"), F.max("offset"), F.count("*")).orderBy("partition").show()
try:
    read(**first_ten).count()
except PySparkException as error:
    print(str(error).strip().splitlines()[-1])
print("with failOnDataLoss=false:", read(failOnDataLoss="false", **first_ten).count())

# %%
spark.stop()
cluster.stop()

# %% [markdown]
# ## Now you
#
# - Write `delays` to a topic of its own, with the airport as key, and read it back.
# - Read with `startingOffsetsByTimestamp`, from 15:00 UTC on 1 July. Which rows are earlier than that, and why? **At
#   which offset of partition 0 does this read start, if only the first day has been sent and nothing deleted?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 把 `delays` 写进一个自己的主题，以机场为键，再读回来。
# - 用 `startingOffsetsByTimestamp` 从 7 月 1 日 15:00 UTC 开始读。哪些行早于这个时间？为什么？**只发送了第一天、什么也
#   没有删除的话，从分区 0 的哪个偏移量读起？**

# %%
answer = None
predictions.STARTS.check(answer)

# %% [markdown]
# Read the first day, 467 and 499 rows, with `maxRecordsPerPartition` 100. Is any of the tasks much smaller than others?
# **How many tasks are there?**

# %% [markdown] lang="zh"
# 用 `maxRecordsPerPartition` 100 读第一天的 467 行和 499 行。有没有比别的小得多的任务？**一共有几个任务？**

# %%
answer = None
predictions.LIMITED.check(answer)
