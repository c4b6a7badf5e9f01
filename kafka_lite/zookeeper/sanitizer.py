"""Makes any name usable as a znode and as a tag of a metric.

Kafka 0.11: clients/.../common/utils/Sanitizer.java; 0.10.2: core/.../server/ClientQuotaManager.scala (QuotaId.sanitize)
· book 10.1
"""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes


def sanitize(name: str) -> str:
    """Percent-encode all but ASCII letters, digits and ``.-_``.

    So the result is never ``<default>``, the node of all that have none of their own. Dots are encoded, too, where they
    are all there is: ZooKeeper has no nodes ``.`` and ``..`` (Kafka's brokers refuse such a name with an exception).
    """
    if name in (".", ".."):
        return name.replace(".", "%2E")
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def desanitize(name: str) -> str:
    """The name that was sanitised. Raises ValueError for what cannot be decoded."""
    if "%" not in name:
        return name.replace("+", " ")
    try:
        return unquote_to_bytes(name.replace("+", " ")).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name!r} is not a sanitised name: {error}") from None
