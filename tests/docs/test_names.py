"""Every name in backquotes, on a page or in a docstring, exists: path, module, class, function, key, flag or verb.

A name that is not ours (Kafka's, Java's, an example's) is listed in ``tests/data/names-of-others.toml``.
The source is read as text, not parsed: its identifiers and keys are what remains without docstrings and comments.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import UnknownSymbolError, find_symbol, module_path

_DOCSTRING = re.compile(r'(?<![=(\[,{] )(?<![=(\[,{fbr])"""(.*?)"""', re.DOTALL)
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2 *$|^ {4}[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"(`+)(?!`)([^`]+?)\1")
_THIS = "tests/docs/test_names.py"
_OURS = ("kafka_lite", "kafka_learn", "pipeline", "bench", "scripts", "chapters", "examples", "tests", "labs")
_ENDING = r"\.(?:py|md|toml|java|jsonl|json|yml|properties|js|css|scala|sh|ipynb|lock)"
_PATH = re.compile(r"\.?[\w.-]+(?:/[\w.-]+)*/?")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_VARIABLE = re.compile(r"\bKAFKA_LITE_[A-Z_]+")
_MODULE_RUN = re.compile(r"python -m ([\w.]+)")
_NAME = re.compile(r"[a-zA-Z_]\w*(?:\.\w+)*(?:\(\))?", re.ASCII)
_KEY = re.compile(r"([a-z][\w-]*(?:\.[\w-]+)+)=\S*")
_COMMAND = re.compile(r"(?:\.venv/bin/)?kafka-lite ([a-z][\w-]*)")


def files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if (PROJECT_ROOT / name).is_file()]


class Project:
    """What names can mean: files, identifiers, keys, flags and verbs of the project, and the names of others."""

    def __init__(self) -> None:
        self.files = files()
        parts = {path[: match.start()] for path in self.files for match in re.finditer("/", path)} | set(self.files)
        self.paths = {path[start:] for path in parts for start in (0, *(m.end() for m in re.finditer("/", path)))}
        self.docstrings: list[tuple[str, str]] = []
        code = [self._code_of(path) for path in self.files if path.endswith(".py") and path != _THIS]
        makefile = (PROJECT_ROOT / "Makefile").read_text(encoding="utf-8")
        source = "\n".join([*code, makefile])
        self.identifiers = set(re.findall(r"\w+", source))
        self.keys = set(re.findall(r"[A-Za-z][\w-]*(?:\.[\w-]+)+", source))
        self.flags = set(_FLAG.findall(source))
        self.strings = set(re.findall(r'"([a-z][\w-]*)"', source))
        self.verbs = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
        text = (PROJECT_ROOT / "tests/data/names-of-others.toml").read_text(encoding="utf-8")
        self.of_others = {name for names in tomllib.loads(text).values() for name in names}

    def _code_of(self, path: str) -> str:
        text = (PROJECT_ROOT / path).read_text(encoding="utf-8")
        if not path.startswith("tests/"):
            self.docstrings += [(path, docstring[1]) for docstring in _DOCSTRING.finditer(text)]
        return _COMMENT.sub("", _DOCSTRING.sub("", text))

    def names(self) -> Iterator[tuple[str, str]]:
        """Every text in backquotes, with the file that has it."""
        for path in self.files:
            if path.endswith(".md"):
                text = _FENCED.sub("", (PROJECT_ROOT / path).read_text(encoding="utf-8"))
                yield from ((path, " ".join(quoted[2].split())) for quoted in _QUOTED.finditer(text))
        for path, docstring in self.docstrings:
            yield from ((path, " ".join(quoted[2].split())) for quoted in _QUOTED.finditer(docstring))

    def unknown(self, quoted: str) -> list[str]:
        """The parts of a text in backquotes that mean nothing here."""
        if quoted in self.of_others:
            return []
        found = [flag for flag in _FLAG.findall(quoted) if flag not in self.flags]
        found += [name for name in _VARIABLE.findall(quoted) if name not in self.identifiers]
        found += [name for name in _MODULE_RUN.findall(quoted) if name.split(".")[0] in _OURS and not _is_module(name)]
        if command := _COMMAND.match(quoted):
            found += [] if command[1] in self.strings else [command[0]]
        elif verb := re.match(r"make ([a-z-]+)", quoted):
            found += [] if verb[1] in self.verbs else [verb[0]]
        elif ":" in quoted and quoted.split(".")[0] in _OURS and re.fullmatch(r"[\w.]+:[\w.]+", quoted):
            found += [] if _is_symbol(quoted) else [quoted]
        elif key := _KEY.fullmatch(quoted):
            found += [] if key[1] in self.keys else [key[1]]
        elif _PATH.fullmatch(quoted) and ("/" in quoted or re.search(rf"{_ENDING}$", quoted)):
            found += [] if quoted.strip("/") in self.paths or quoted in self.keys else [quoted]
        elif _NAME.fullmatch(quoted):
            found += self._unknown_name(quoted.removesuffix("()"))
        return [name for name in found if name not in self.of_others]

    def _unknown_name(self, name: str) -> list[str]:
        """A module, class, function, attribute, message field or key; constants may be quoted in lower case."""
        if name in self.keys:
            return []
        first, *others = name.split(".")
        if others and first in _OURS:
            return [] if _is_module(name) or _is_symbol(name) else [name]
        known = all(part in self.identifiers or part.upper() in self.identifiers for part in (first, *others))
        return [] if known else [name]


def _is_module(name: str) -> bool:
    return bool(_text_of(name)) or PROJECT_ROOT.joinpath(*name.split(".")).is_dir()


def _is_symbol(name: str) -> bool:
    """Whether ``module.Symbol`` or ``module:Symbol.method`` is defined there, or offered as part of ``__all__``."""
    module, _, symbol = name.partition(":") if ":" in name else name.rpartition(".")
    try:
        find_symbol(f"{module}:{symbol}")
    except UnknownSymbolError:
        return f'"{symbol}"' in _text_of(module)
    return True


def _text_of(module: str) -> str:
    try:
        return module_path(module).read_text(encoding="utf-8")
    except UnknownSymbolError:
        return ""  # a folder without __init__.py


@cache
def project() -> Project:
    """The project, read once, on first use."""
    return Project()


def test_every_name_in_backquotes_exists() -> None:
    quoted: dict[str, str] = {}
    for path, text in project().names():
        quoted.setdefault(text, path)
    assert len(quoted) > 5000
    unknown = [f"{path}: {name}" for text, path in quoted.items() for name in project().unknown(text)]
    assert unknown == [], "mend them; if they are another program's, list them in tests/data/names-of-others.toml"


def test_every_name_of_others_is_used() -> None:
    used = {text for _, text in project().names()}
    parts = {
        part for text in used for part in (*_FLAG.findall(text), *(key[1] for key in [_KEY.fullmatch(text)] if key))
    }
    assert project().of_others - used - parts - {text.removesuffix("()") for text in used} == set()


@pytest.mark.parametrize(
    ("quoted", "unknown"),
    [
        ("spark/columnar_records.py", ["spark/columnar_records.py"]),
        ("reading/columnar_records.py", []),
        ("kafka_lite.log.offset_index:OffsetIndex.lookup", []),
        ("kafka_lite.log.offset_index:OffsetIndex.look_up", ["kafka_lite.log.offset_index:OffsetIndex.look_up"]),
        ("kafka_lite.log.no_such", ["kafka_lite.log.no_such"]),
        ("python -m bench.nothing --only x", ["bench.nothing"]),
        ("make breakfast", ["make breakfast"]),
        ("kafka-lite toppics --list", ["kafka-lite toppics"]),
        ("kafka-lite topics --lists", ["--lists"]),
        ("log.retention.hous=3", ["log.retention.hous"]),
        ("LogSegmnt.append", ["LogSegmnt.append"]),
        ("KAFKA_LITE_NOTHING=1", ["KAFKA_LITE_NOTHING"]),
        ("kill -9", []),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_found(quoted: str, unknown: list[str]) -> None:
    assert project().unknown(quoted) == unknown
