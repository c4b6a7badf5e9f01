"""What is measured: records on their way through the accumulator."""

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.record.compression import CompressionType

SHOWN = "append 600 records of 100 bytes to six partitions, and drain them for two brokers, batch by batch"
SHOWN_ZH = "向六个分区追加 600 条一百字节的记录，再为两个 broker 一批一批地取走"
ROUNDS = 100
NODES = (Node(0, "a", 1), Node(1, "b", 2))
PARTITIONS = [TopicPartition("t", number) for number in range(6)]


def prepare(_folder):
    time = MockTime()
    pool = BufferPool(100_000, 1000, time)
    accumulator = RecordAccumulator(1000, CompressionType.NONE, 5, 100, 60_000, pool, time=time)
    cluster = Cluster(
        NODES, tuple(PartitionInfo("t", each.partition, NODES[each.partition % 2]) for each in PARTITIONS)
    )
    value = bytes(100)

    def one_round(_number):
        full = 0
        for number in range(600):
            fields = (1000, None, value, (), None)
            full += accumulator.append(PARTITIONS[number % 6], fields, 0).batch_is_full
        time.sleep(10)
        drained = []
        while (ready := accumulator.ready(cluster, time.hi_res_ms())).ready_nodes:
            nodes = sorted(ready.ready_nodes, key=lambda node: node.id)
            for node, batches in accumulator.drain(cluster, nodes, 3000, time.hi_res_ms()).items():
                for batch in batches:
                    drained.append((node, batch.topic_partition.partition, batch.record_count))
                    accumulator.deallocate(batch)
        return full, len(drained), sum(count for *_, count in drained), sorted(drained)[:8]

    return one_round
