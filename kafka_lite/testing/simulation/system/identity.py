"""Hashes and identities that are the same in every run of a seed.

Not in Kafka. Python hashes an object without a hash of its own by its address, so the order of a set of such objects
differs from run to run. Classes of a simulated process count their objects instead.
"""

from __future__ import annotations

import builtins
import itertools
import types
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence
from typing import Any, ClassVar, Final, Generic

_KEY: Final = "_number_in_world"


class Numbered:
    """Base of classes without a hash of their own: an object gets the next number when it is first hashed.

    The number is in the object's ``__dict__``, or in a slot of that name if the class has slots only.
    """

    __slots__ = ()
    numbers: ClassVar[Iterator[int]]

    def __hash__(self) -> int:
        number = number_of(self, self.numbers)
        return object.__hash__(self) if number is None else number


def number_of(value: object, numbers: Iterator[int]) -> int | None:
    """The object's number; the next one if it has none yet, and None if it cannot keep one."""
    try:
        names = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _number_in_slot(value, numbers) if hasattr(type(value), _KEY) else None
    number = names.get(_KEY)
    if number is None:
        number = names[_KEY] = next(numbers)
    return int(number)


def _number_in_slot(value: object, numbers: Iterator[int]) -> int:
    try:
        return int(object.__getattribute__(value, _KEY))
    except AttributeError:
        object.__setattr__(value, _KEY, number := next(numbers))
        return number


class Identity:
    """The builtins ``id`` and ``__build_class__`` of one process.

    ``library``: modules whose objects are counted apart. How many of them are hashed depends on the version of Python,
    and the order of the other objects must not.
    """

    def __init__(self, library: Collection[str] = ()) -> None:
        self._library = library
        self._numbers = itertools.count(1)
        self._base = type("Numbered", (Numbered,), {"numbers": self._numbers, "__slots__": ()})
        self._library_base = type("Numbered", (Numbered,), {"numbers": itertools.count(1), "__slots__": ()})

    def id(self, value: object) -> int:
        """A number in order of first use, where the object can keep one."""
        numbers = getattr(type(value), "numbers", self._numbers) if isinstance(value, Numbered) else self._numbers
        number = None if isinstance(value, type) else number_of(value, numbers)
        return builtins.id(value) if number is None else number

    def build_class(self, function: Any, name: str, /, *bases: Any, metaclass: Any = None, **options: Any) -> Any:
        """Make a class. One that would be hashed by address gets ``Numbered`` as its first base."""
        resolved = types.resolve_bases(bases)
        if isinstance(metaclass, type | None) and all(map(_is_hashed_by_address, resolved)):
            is_library = function.__globals__.get("__name__", "").partition(".")[0] in self._library
            base = self._library_base if is_library else self._base
            metaclass = self._numbering(_metaclass(metaclass, resolved), base)
        if metaclass is not None:
            options["metaclass"] = metaclass
        return builtins.__build_class__(function, name, *bases, **options)

    def _numbering(self, metaclass: Any, numbered: type) -> Callable[..., Any]:
        """The metaclass, with one more base for each class that it makes, and one more slot if there are slots."""

        def make(name: str, bases: tuple[type, ...], names: MutableMapping[str, Any], **options: Any) -> Any:
            slots = names.get("__slots__")
            if isinstance(slots, tuple | list) and slots and not any(map(_keeps_number, bases)):
                names["__slots__"] = (*slots, _KEY)
            if not any(issubclass(base, numbered) for base in bases):
                bases = (numbered, *(base for base in bases if base is not object))
            return metaclass(name, bases, names, **options)

        make.__prepare__ = metaclass.__prepare__  # type: ignore[attr-defined]
        return make


def _metaclass(given: type | None, bases: Sequence[Any]) -> type:
    """The most derived metaclass, as Python chooses it."""
    found = given or type
    for base in bases:
        if issubclass(type(base), found):
            found = type(base)
    return found


def _keeps_number(base: type) -> bool:
    return bool(base.__dictoffset__) or hasattr(base, _KEY)


def _is_hashed_by_address(base: Any) -> bool:
    """Whether objects of a subclass would be, and the subclass may have another base."""
    return (
        isinstance(base, type)
        and getattr(base, "__hash__", None) in (object.__hash__, Numbered.__hash__)
        and not issubclass(base, type)
        and (base.__module__ != "typing" or base is Generic)
    )
