"""Validates znode paths.

ZooKeeper 3.8: zookeeper-server/.../common/PathUtils.java · book 7.1.3
"""

from __future__ import annotations

import re

_FORBIDDEN_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")
_RELATIVE_SEGMENT = re.compile(r"/\.\.?(/|$)")


def validate_path(path: str) -> str | None:
    """Return why the path is invalid, or None if it is valid."""
    if not path.startswith("/"):
        return "a path must start with /"
    if path == "/":
        return None
    if path.endswith("/"):
        return "a path must not end with /"
    if "//" in path:
        return "an empty segment"
    if _RELATIVE_SEGMENT.search(path):
        return "a relative segment"
    if _FORBIDDEN_CHARACTER.search(path):
        return "a forbidden character"
    return None


def parent_path(path: str) -> str:
    """The path one level up; for a top-level znode it is ``/``."""
    return path[: path.rindex("/")] or "/"
