"""How a bean is declared: its name, the kind of its values, and its meaning in both languages.

Kafka 0.10.2: the section *Monitoring* of docs/ops.html · book 2.3
"""

from __future__ import annotations

from dataclasses import dataclass

GAUGE, METER, HISTOGRAM, TIMER = "gauge", "meter", "histogram", "timer"


@dataclass(frozen=True)
class BeanDeclaration:
    """One bean, or all beans that differ only in the values of ``tags``."""

    group: str
    type: str
    name: str
    kind: str
    """gauge, meter, histogram or timer; or the attributes if it is a bean of Kafka's own metrics library."""
    en: str
    zh: str
    tags: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The bean's name with ``*`` for the values of tags."""
        name = f",name={self.name}" if self.name else ""
        return f"{self.group}:type={self.type}{name}{''.join(f',{tag}=*' for tag in self.tags)}"


def server_bean(type_name: str, name: str, kind: str, en: str, zh: str, *tags: str) -> BeanDeclaration:
    """A bean of the group ``kafka.server``."""
    return BeanDeclaration("kafka.server", type_name, name, kind, en, zh, tags)
