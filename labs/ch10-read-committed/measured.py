"""What is measured: a log of transactions, as the broker appends it and as a consumer reads it."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.partition_records import CompletedFetch, PartitionRecords
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions
from kafka_lite.protocol.messages.api_01_fetch import AbortedTransaction, PartitionData
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

SHOWN = "note 60 transactions of six producers, a third of them aborted, and read their 180 batches as committed"
SHOWN_ZH = "记下六个生产者的 60 个事务（三分之一中止），再以已提交的隔离级别读它们的 180 个批"
ROUNDS = 200
PRODUCERS, TRANSACTIONS = 6, 10


def transactions():
    """(producer, first offset, offset of the marker, whether it is aborted): two batches each, six at a time."""
    for number in range(TRANSACTIONS):
        start = number * PRODUCERS * 3
        for producer in range(PRODUCERS):
            yield producer + 1, start + producer, start + 2 * PRODUCERS + producer, (number + producer) % 3 == 0


def batches():
    """The bytes of the log."""
    at = {}
    for producer, first, marker, is_aborted in transactions():
        for offset in (first, first + PRODUCERS):
            builder = MemoryRecordsBuilder(
                base_offset=offset, producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True
            )
            builder.append(1000, None, b"%d" % offset)
            at[offset] = builder.build()
        ended = EndTransactionMarker(ControlRecordType["ABORT" if is_aborted else "COMMIT"], 0)
        at[marker] = ended.to_batch(producer, 0, 1000, base_offset=marker)
    return b"".join(at[offset] for offset in sorted(at))


def prepare(_folder):
    log = batches()
    in_order = list(transactions())
    aborted = [AbortedTransaction(producer_id=each[0], first_offset=each[1]) for each in in_order if each[3]]

    def note():
        """Append all, six transactions at a time; the high watermark is one append behind."""
        state, unstable, indexed = OpenTransactions(), [], []
        for start in range(0, len(in_order), PRODUCERS):
            some = in_order[start : start + PRODUCERS]
            state, _ = state.after([(first, producer) for producer, first, *_ in some], [])
            for producer, first, marker, is_aborted in some:
                state, entries = state.after([], [CompletedTxn(producer, first, marker, is_aborted)])
                unstable.append(state.first_unstable_offset(marker - 4))
                indexed += [tuple(entry) for entry in entries]
            state = state.replicated_up_to(some[-1][2])
        return unstable, indexed

    def one_round(_number):
        unstable, indexed = note()
        response = PartitionData(partition_index=0, records=log, aborted_transactions=aborted)
        fetch = CompletedFetch(TopicPartition("t", 0), 0, response, 11, lambda *_: None)
        records, read = PartitionRecords(fetch, read_committed=True), []
        while not records.is_consumed:
            read += [record.offset for record in records.fetch_records(100)]
        return len(read), read[:6], unstable[:14], len(indexed), indexed[:2]

    return one_round
