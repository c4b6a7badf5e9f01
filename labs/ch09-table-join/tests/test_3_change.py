"""Task 3: a change of one side."""

import random
from types import SimpleNamespace

import pytest

from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.table_joins import KTableKTableJoin
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.task_id import TaskId

KINDS = ("join", "left_join", "outer_join")


def joined(kind, left, right):
    """The model: the joined value of a key."""
    if (left is None and (kind != "outer_join" or right is None)) or (right is None and kind == "join"):
        return None
    return f"{left}+{right}"


@pytest.mark.points(4, task=3)
@pytest.mark.parametrize("kind", KINDS)
def test_random_changes(table_join, outputs, kind):
    """A hundred changes of both sides: the output, as a table, is the join of both tables"""
    chance = random.Random(5)
    inputs = [
        (chance.choice(["left", "right"]), chance.choice("kl"), chance.choice(["1", "2", None])) for _ in range(100)
    ]
    tables, result = {"left": {}, "right": {}}, {}
    for (topic, key, value), sent in zip(inputs, outputs(table_join(kind), *inputs), strict=True):
        tables[topic][key] = value
        result.update(sent)
        left, right = tables["left"].get(key), tables["right"].get(key)
        wanted = joined(kind, left, right)
        assert result.get(key) == wanted, (
            f"{kind}: {topic}[{key}] becomes {value}; left has {left}, right has {right}: the result is {wanted}, "
            f"and yours {result.get(key)} (sent now: {sent})"
        )


@pytest.mark.points(3, task=3)
def test_nothing_to_say(table_join, outputs):
    """An inner join without the other side, and a deletion of nothing"""
    assert outputs(table_join("join"), ("left", "k", "1")) == [[]], "an inner join without the other side sends nothing"
    found = outputs(table_join("outer_join"), ("left", "k", None))
    assert found == [[]], f"(None, None) and no other side: there is nothing to say; yours sends {found[0]}"


@pytest.mark.points(3, task=3)
def test_a_deletion_is_sent(table_join, outputs):
    """One side of an inner join is deleted"""
    found = outputs(table_join("join"), ("left", "k", "1"), ("right", "k", "2"), ("left", "k", None))
    assert found[2] == [("k", None)], f"the joined value is gone: send None, a deletion; yours sends {found[2]}"


@pytest.mark.points(3, task=3)
def test_which_order(table_join, outputs):
    """joiner(left, right), whichever side changed"""
    found = outputs(table_join("join"), ("left", "k", "1"), ("right", "k", "2"), ("left", "k", "3"))
    assert found[1:] == [[("k", "1+2")], [("k", "3+2")]], f"1+2, then 3+2; yours is {found[1:]}"


@pytest.mark.points(4, task=3)
def test_the_old_value(table_join, outputs):
    """Asked for, it is the old value of the changed side, joined with the other's current one"""
    seen = []

    class Changes(Processor):
        def process(self, _key, value):
            seen.append(tuple(value))

    inputs = (("left", "k", "1"), ("right", "k", "2"), ("left", "k", "3"), ("left", "k", None))
    outputs(table_join("join", Changes), *inputs)
    wanted = [("1+2", None), ("3+2", "1+2"), (None, "3+2")]
    assert seen == wanted, f"the changes are (new, old): {wanted}; yours are {seen}"


@pytest.mark.points(3, task=3)
def test_the_old_value_if_nobody_asks(table_join, outputs):
    """Then it is None, even if the changed side has it"""
    seen = []

    class Changes(Processor):
        def process(self, _key, value):
            seen.append(value.old_value)

    builder = table_join("join", left_sends_old=True)
    builder.add_processor("changes", Changes, "KTABLE-MERGE-0000000006")
    outputs(builder, ("left", "k", "1"), ("right", "k", "2"), ("left", "k", "3"))
    assert seen == [None, None], f"nobody asked for old values: the old value is None; yours are {seen}"


def a_context(forward):
    """The part of a context that a join uses: where its record is from, and the metrics that count dropped ones."""
    record = {"topic": "left", "partition": 0, "offset": 0, "task_id": TaskId(0, 0)}
    return SimpleNamespace(forward=forward, metrics=StreamsMetricsImpl(Metrics()), **record)


@pytest.mark.points(1, task=3)
@pytest.mark.parametrize("needs_other", [True, False])
def test_no_key_and_empty_ones(needs_other):
    """None is none; empty keys and values are there"""
    sent = []
    table = SimpleNamespace(store_names=(), value_getter=lambda _context: {"": ""}.get)
    join = KTableKTableJoin(table, table, "{}+{}".format, needs_this=False, needs_other=needs_other)
    processor = join()
    processor.init(a_context(lambda key, value: sent.append((key, value))))
    skipped, processor.skip_record = [], lambda why: skipped.append(why)
    processor.process(None, Change("1", None))
    assert sent == [], f"a change without a key is dropped; yours sends {sent}"
    assert len(skipped) == 1, "a change that is dropped is counted and logged: call self.skip_record"
    processor.process("", Change("1", None))
    assert sent == [("", ("1+", None))], (
        f"an empty key is a key, and the empty value of the other side a value: 1+; yours sends {sent}"
    )
