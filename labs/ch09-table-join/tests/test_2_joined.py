"""Task 2: the joined value, and how it is looked up."""

import pytest

from kafka_lite.streams.kstream.internals.table_joins import KTableKTableJoin

NEEDS = {"inner": (True, True), "left": (True, False), "outer": (False, False)}
WANTED = {
    "inner": {("a", "b"): "a+b", ("a", None): None, (None, "b"): None, (None, None): None},
    "left": {("a", "b"): "a+b", ("a", None): "a+None", (None, "b"): None, (None, None): None},
    "outer": {("a", "b"): "a+b", ("a", None): "a+None", (None, "b"): "None+b", (None, None): None},
}


class Side:
    """A table of fixed values. It counts how often its getter is made."""

    def __init__(self, **values):
        self.values = values
        self.store_names = ()
        self.made = 0

    def value_getter(self, _context):
        self.made += 1
        return self.values.get


def join_of(kind, this=None, other=None):
    needs_this, needs_other = NEEDS[kind]
    return KTableKTableJoin(
        this or Side(), other or Side(), lambda value, other: f"{value}+{other}",
        needs_this=needs_this, needs_other=needs_other,
    )  # fmt: skip


@pytest.mark.points(6, task=2)
@pytest.mark.parametrize("kind", NEEDS)
def test_what_may_be_missing(kind):
    """All four cases"""
    join = join_of(kind)
    for (value, other), wanted in WANTED[kind].items():
        found = join.joined(value, other)
        assert found == wanted, f"{kind} join of {value} and {other}: {wanted}, not {found}"


@pytest.mark.points(6, task=2)
def test_falsy_values():
    """0 and '' are values"""
    assert join_of("inner").joined(0, "") == "0+", "0 and '' are values; only None is none"


@pytest.mark.points(6, task=2)
def test_the_getter():
    """It looks both tables up"""
    this, other = Side(k="a", only="c"), Side(k="b")
    get = join_of("left", this, other).value_getter(None)
    assert [get("k"), get("only"), get("nowhere")] == ["a+b", "c+None", None], (
        f"value_getter joins what both tables have: a+b, c+None, None; not {[get('k'), get('only'), get('nowhere')]}"
    )
    outer = join_of("outer", Side(), Side(k="b")).value_getter(None)
    assert outer("k") == "None+b", f"an outer join looks the other table up even if this one has none; not {outer('k')}"
    assert (this.made, other.made) == (1, 1), "make each table's getter once, not at each look-up"
