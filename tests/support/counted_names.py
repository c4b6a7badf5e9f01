"""Names that count how often they are looked at, so that a test sees quadratic work without a clock."""

from __future__ import annotations


class CountedName(str):
    """A string that counts the hashes and comparisons of all of its kind since ``reset``."""

    __slots__ = ()
    looks = 0

    def __hash__(self) -> int:
        CountedName.looks += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        CountedName.looks += 1
        return super().__eq__(other)

    @classmethod
    def reset(cls) -> None:
        """Begin to count again."""
        cls.looks = 0


def counted_names(count: int) -> list[str]:
    """So many different names."""
    return [CountedName(f"t{number}") for number in range(count)]
