"""The options of ``format("kafka_lite")`` beside those of Spark's own Kafka connector, for the page *Spark*.

The options come from the code; only what differs is written here. ``spark_options_beside_the_connector`` fails for a
difference whose option is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Words = tuple[str, str]
"""English and Chinese."""

SAME: Words = ("the same", "相同")

DIFFERENCES: Mapping[str, Words] = {
    "subscribePattern": (
        "a regular expression of Java; sets within sets, `\\p{…}` and rarer constructs are refused here. Internal "
        "topics are left out by both",
        "Java 的正则表达式；嵌套的字符集、`\\p{…}` 和更少见的写法在这里会被拒绝。两者都不读内部主题",
    ),
    "maxRecordsPerPartition": ("the same, since Spark 4.0", "相同（Spark 4.0 起）"),
    "maxBytesPerPartition": (
        "has no such option. Here the brokers are asked for the logs' sizes (DescribeLogDirs, Kafka 1.0 or newer), and "
        "a task gets about so many bytes as the log has them on disk: compressed",
        "没有这个选项。这里向 broker 询问日志的大小（DescribeLogDirs，Kafka 1.0 以上），每个任务大约读取这么多字节，"
        "按磁盘上（压缩后）的大小计算",
    ),
    "maxOffsetsPerTrigger": (
        "the same. In a batch query it is refused here; Spark's connector warns and ignores it. Needs PySpark 4.2",
        "相同。批查询带有它时这里会拒绝，Spark 的连接器只警告并忽略。需要 PySpark 4.2",
    ),
    "minOffsetsPerTrigger": (
        "the same. In a batch query it is refused here; Spark's connector warns and ignores it. Needs PySpark 4.2",
        "相同。批查询带有它时这里会拒绝，Spark 的连接器只警告并忽略。需要 PySpark 4.2",
    ),
    "failOnDataLoss": (
        "the same. A partition that was deleted while a task reads it counts as a loss here; Spark's connector fails "
        "with a timeout",
        "相同。任务读取期间被删除的分区在这里算作数据丢失；Spark 的连接器以超时失败",
    ),
    "groupIdPrefix": (
        "begins the id of a consumer group. Here no group exists: it only begins the client id",
        "是消费组编号的前缀。这里没有消费组，它只是客户端编号的前缀",
    ),
    "kafkaConsumer.pollTimeoutMs": (
        "the same; without it Spark's connector takes `spark.network.timeout`, which is 120 s, too",
        "相同；没有设置时 Spark 的连接器取 `spark.network.timeout`，默认也是 120 秒",
    ),
    "includeHeaders": (
        "the same for reading. For writing it has no effect in either: headers are written if there is such a column",
        "读取时相同。写入时在两者中都不起作用：有这一列就写入消息头",
    ),
    "kafka.group.id": (
        "makes the consumers members of this group, with a warning. Here it only names the client id",
        "让消费者加入这个消费组，并给出警告。这里它只用于客户端编号",
    ),
    "kafka.security.protocol": (
        "SSL, SASL_PLAINTEXT and SASL_SSL, too, with delegation tokens. Here a reader speaks plain TCP; a writer has "
        "all that librdkafka has",
        "还支持 SSL、SASL_PLAINTEXT、SASL_SSL 和委托令牌。这里的读取只用明文 TCP；写入支持 librdkafka 的全部方式",
    ),
}
"""Options of both that differ, and options of ours alone: what Spark's connector has instead."""

ONLY_THERE: Mapping[str, Words] = {
    "kafka.max.poll.records, kafka.session.timeout.ms, …": (
        "any option of Java's consumer. Here one that could not be honoured is refused, by name",
        "Java 消费者的任何选项。这里不能照办的选项会被点名拒绝",
    ),
    "kafka.ssl.*, kafka.sasl.*": (
        "TLS and SASL. Not for reading here (above); for writing, with librdkafka's names",
        "TLS 和 SASL。这里读取时没有（见上）；写入时用 librdkafka 的名字",
    ),
    "spark.kafka.consumer.cache.*, spark.kafka.consumer.fetchedData.cache.*": (
        "consumers and fetched records that an executor keeps between tasks. Here each task opens its own connection, "
        "and closes it",
        "执行器在任务之间保留的消费者和已拉取的消息。这里每个任务打开自己的连接，用完即关",
    ),
    "spark.kafka.producer.cache.*": (
        "producers that an executor keeps between tasks. Here each task has its own, and waits for all "
        "acknowledgements before it ends",
        "执行器在任务之间保留的生产者。这里每个任务有自己的生产者，结束之前等待全部确认",
    ),
    "spark.kafka.clusters.*": (
        "delegation tokens for several clusters",
        "多个集群的委托令牌",
    ),
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": (
        "a consumer instead of the admin client in the driver, which needs other permissions. Here the driver asks as "
        "the admin client does: Describe on the topics is enough",
        "驱动程序用消费者而不是管理客户端查询偏移量，所需权限不同。"
        "这里的驱动程序与管理客户端一样查询：有主题的 Describe 权限即可",
    ),
}
"""Options and settings that only Spark's connector has, and what is here instead."""

_HEAD: Words = (
    "| option | Spark's connector | read | stream | write |\n|---|---|---|---|---|",
    "| 选项 | Spark 自带的连接器 | 批读取 | 流读取 | 写入 |\n|---|---|---|---|---|",
)
_OTHER_HEAD: Words = (
    "| only Spark's connector has | what it does, and what is here instead |\n|---|---|",
    "| 只有 Spark 的连接器才有 | 作用，以及这里的做法 |\n|---|---|",
)
_BATCH_ONLY = {"endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"}
_STREAM_ONLY = {"maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"}


def spark_options_beside_the_connector(language: str) -> str:
    """Every option of the data source: what it is in Spark's own connector, and for which queries it is."""
    from kafka_lite.spark.option_table import (  # it needs PySpark
        CONSUMER_CONFIGS,
        KAFKA_PREFIX,
        READ_OPTIONS,
        WRITE_OPTIONS,
    )

    reading = [*(key.name for key in READ_OPTIONS), *(KAFKA_PREFIX + key.name for key in CONSUMER_CONFIGS)]
    writing = [key.name for key in WRITE_OPTIONS] + ["kafka.bootstrap.servers"]
    names = list(dict.fromkeys([*reading, *writing]))
    if gone := DIFFERENCES.keys() - set(names):
        raise ValueError(f"no option of the data source: {', '.join(sorted(gone))}")
    chinese = language == "zh"
    rows = [
        f"| `{name}` | {DIFFERENCES.get(name, SAME)[chinese]} | {_ticks(name, reading, writing)} |" for name in names
    ]
    others = [f"| {_code(names)} | {words[chinese]} |" for names, words in ONLY_THERE.items()]
    return "\n".join([_HEAD[chinese], *rows, "", _OTHER_HEAD[chinese], *others])


def _ticks(name: str, reading: Iterable[str], writing: Iterable[str]) -> str:
    reads, writes = name in reading, name in writing
    return " | ".join(
        "✓" if yes else "" for yes in (reads and name not in _STREAM_ONLY, reads and name not in _BATCH_ONLY, writes)
    )


def _code(names: str) -> str:
    return ", ".join(name if name == "…" else f"`{name}`" for name in names.split(", "))
