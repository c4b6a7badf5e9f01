"""Objects of a simulated process are hashed in the order of first use, whatever kind of class they have."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from kafka_lite.testing.simulation.system.identity import Identity

CLASSES = """
import abc, dataclasses, enum, typing

T = typing.TypeVar("T")

class Plain: pass
class OfObject(object): pass
class Sub(Plain): pass
class Slots:
    __slots__ = ("a", "b")
class MoreSlots(Slots):
    __slots__ = ("c",)
class EmptySlots:
    __slots__ = ()
class Filled(EmptySlots):
    __slots__ = ("a",)
class Mixed(Filled, EmptySlots): pass
class Abstract(abc.ABC): pass
class Concrete(Abstract, Plain): pass
class Box(typing.Generic[T]): pass
class IntBox(Box[int]): pass
class SlotBox(typing.Generic[T]):
    __slots__ = ("a",)
class Failure(Exception): pass
class Both(Plain, typing.Generic[T]): pass
class Diamond(Both[int], Box[int]): pass
@dataclasses.dataclass(eq=False)
class Data:
    a: int = 0

class Speaks(typing.Protocol):
    def say(self): ...
class Speaker(Speaks):
    def say(self): ...
class Pair(typing.NamedTuple):
    a: int = 1
class Row(typing.TypedDict):
    a: int
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass(frozen=True)
class Value:
    a: int = 0
@dataclasses.dataclass(frozen=True, slots=True)
class SlotValue:
    a: int = 0
@dataclasses.dataclass
class Mutable:
    a: int = 0
class Meta(type): pass
class OfMeta(metaclass=Meta): pass
class CallsSuper(Plain):
    def name(self):
        return super().__repr__() and __class__.__name__
"""
COUNTED = (
    "Plain", "OfObject", "Sub", "Slots", "MoreSlots", "Filled", "Mixed", "Concrete", "Box", "IntBox", "SlotBox",
    "Failure", "Both", "Diamond", "Data", "Speaker", "OfMeta", "CallsSuper",
)  # fmt: skip


def classes_of_a_process() -> dict[str, Any]:
    identity = Identity()
    names: dict[str, Any] = {
        "__builtins__": {**vars(builtins), "__build_class__": identity.build_class, "id": identity.id},
        "__name__": "inside",
    }
    exec(compile(CLASSES, "inside", "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize("name", COUNTED)
def test_objects_are_counted_when_they_are_first_hashed(name: str) -> None:
    inside = classes_of_a_process()
    first, second = inside[name](), inside[name]()
    assert [hash(second), hash(first), hash(second)] == [1, 2, 1]
    assert inside["__builtins__"]["id"](first) == 2
    assert len({first, second}) == 2


def test_classes_with_a_hash_of_their_own_keep_it() -> None:
    inside = classes_of_a_process()
    for name in ("Value", "SlotValue", "Pair"):
        assert hash(inside[name]()) == hash(inside[name]())
        assert inside[name]() == inside[name]()
    assert hash(inside["Color"].RED) == hash("RED")
    with pytest.raises(TypeError, match="unhashable"):
        hash(inside["Mutable"]())


def test_special_classes_are_made_as_ever() -> None:
    inside = classes_of_a_process()
    assert inside["Pair"]() == (1,)
    assert inside["Row"](a=1) == {"a": 1}
    assert inside["CallsSuper"]().name() == "CallsSuper"
    assert type(inside["OfMeta"]) is inside["Meta"]
    assert isinstance(inside["Concrete"](), inside["Abstract"])


def test_objects_of_the_library_do_not_change_the_numbers_of_a_program() -> None:
    identity = Identity({"threading"})

    def build(module: str) -> Any:
        names = {"__builtins__": {**vars(builtins), "__build_class__": identity.build_class}, "__name__": module}
        exec("class Thing: pass\nclass Slots:\n    __slots__ = ('a',)", names)
        return names

    library, program = build("threading"), build("kafka_lite.log.log")
    assert [hash(library["Thing"]()) for _ in range(5)] == [1, 2, 3, 4, 5]
    assert [hash(program[name]()) for name in ("Thing", "Slots")] == [1, 2]
    assert identity.id(library["Slots"]()) == 6

    program["Library"] = library["Thing"]
    exec("class Own(Library): pass", program)
    assert hash(program["Own"]()) == 3  # a program's subclass of the library's class is the program's
