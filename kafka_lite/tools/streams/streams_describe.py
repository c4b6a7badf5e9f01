"""``kafka-lite streams-describe``: the topology of an application, as text or as a drawing.

Kafka 0.10.2: none; it prints what ``Topology.describe()`` of later versions returns · book 9.1.2
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback

from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.topology_drawing import TopologyDrawing
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "streams-describe"
SUMMARY = "describe or draw the topology of a Streams application"

TEXT, SVG, DOT = "text", "svg", "dot"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The builder, and the form of the description."""
    parser.add_argument(
        "builder",
        metavar="MODULE:NAME",
        help="a TopologyBuilder, or a function without arguments that returns one: shop.orders:builder",
    )
    parser.add_argument(
        "--format",
        choices=(TEXT, SVG, DOT),
        default=TEXT,
        help="Kafka's text (the default), a drawing as SVG, or source for Graphviz",
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print the description."""
    description = _builder(options.builder).describe()
    drawing = TopologyDrawing(description)
    print({TEXT: lambda: str(description).rstrip("\n"), SVG: drawing.svg, DOT: drawing.dot}[options.format]())
    return 0


def _builder(reference: str) -> TopologyBuilder:
    """Import a builder, from the current folder if it is there. Raises ToolError."""
    module_name, _, name = reference.partition(":")
    if not module_name or not name:
        raise ToolError(f"{NAME}: {reference!r} is not of the form MODULE:NAME, such as shop.orders:builder")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # the user's module may raise anything
        where = traceback.extract_tb(error.__traceback__)[-1]
        line = "" if where.filename.startswith("<frozen") else f" ({where.filename}, line {where.lineno})"
        raise ToolError(f"{NAME}: cannot import {module_name}: {type(error).__name__}: {error}{line}") from error
    finally:
        sys.path.remove("")
    if not hasattr(module, name):
        raise ToolError(f"{NAME}: {module_name} has no {name}")
    found = getattr(module, name)
    if callable(found) and not isinstance(found, TopologyBuilder):
        found = found()
    if not isinstance(found, TopologyBuilder):
        raise ToolError(f"{NAME}: {reference} is a {type(found).__name__}, not a TopologyBuilder")
    return found
