"""What is measured: the processors of the joins, with tables that are dicts."""

from types import SimpleNamespace

from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.table_joins import KStreamKTableJoin, KTableKTableJoin

SHOWN = "join 500 records with a table, and 500 changes with the other table of an outer join"
SHOWN_ZH = "500 条记录与一张表连接，500 个变更与外连接的另一张表连接"
ROUNDS = 600


class Table:
    """A table that is a dict."""

    send_old_values, store_names = True, ("store",)

    def __init__(self, values):
        self.values = values

    def value_getter(self, _context):
        return self.values.get

    def enable_sending_old_values(self):
        pass


def pair(value, other):
    return value, other


def prepare(_folder):
    sent = []
    context = SimpleNamespace(forward=lambda key, value: sent.append((key, value)))
    table = Table({number: number * 10 for number in range(0, 100, 2)})
    of_stream = KStreamKTableJoin(table, pair, False)
    supplier = KTableKTableJoin(Table({}), table, pair, needs_this=False, needs_other=False)
    supplier.enable_sending_old_values()
    of_tables = supplier()
    for processor in (of_stream, of_tables):
        processor.context = context
        processor._getter = table.values.get

    def one_round(_number):
        sent.clear()
        for number in range(500):
            of_stream.process(number % 100, number)
        joined = len(sent)
        for number in range(500):
            of_tables.process(number % 100, Change(number if number % 3 else None, number - 1))
        return joined, len(sent), sent[1:3], [(key, tuple(change)) for key, change in sent[joined : joined + 4]]

    return one_round
