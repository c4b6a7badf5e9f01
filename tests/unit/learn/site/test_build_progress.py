"""A build of the site shows how far it is, and does not begin if it could not be served."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Callable

import pytest
from rich.console import Console

from kafka_learn.site import docs_site
from kafka_learn.site.build_progress import BuildProgress
from kafka_learn.site.docs_site import main


def shown(work: Callable[[BuildProgress], None], is_terminal: bool) -> str:
    out = io.StringIO()
    work(BuildProgress(Console(file=out, force_terminal=is_terminal, width=100)))
    return out.getvalue()


def three_pages(progress: BuildProgress) -> None:
    assert list(progress.track("abc", "pages", 3)) == ["a", "b", "c"]


def test_each_part_ends_with_a_line_that_says_how_long_it_took() -> None:
    def work(progress: BuildProgress) -> None:
        three_pages(progress)
        with progress.spinner("mkdocs"):
            pass

    assert re.fullmatch(r"3 pages: \d+\.\d s\nmkdocs: \d+\.\d s\n", shown(work, is_terminal=False))


def test_a_terminal_shows_a_bar_while_the_part_runs() -> None:
    assert "0/3" in shown(three_pages, is_terminal=True)


@pytest.fixture
def no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def build() -> int:
        raise AssertionError("nothing should be built")

    monkeypatch.setattr(docs_site, "_stage", build)


@pytest.mark.usefixtures("no_build")
def test_a_site_whose_port_is_taken_is_not_built(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", "--address", f"127.0.0.1:{port}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"The site cannot be served at 127.0.0.1:{port} (")
    assert "in use" in error
    assert f'make site ARGS="--address 127.0.0.1:{port % 65_535 + 1}"' in error


@pytest.mark.usefixtures("no_build")
@pytest.mark.parametrize("address", ["8000", "127.0.0.1:", "127.0.0.1:http", ":8000", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_explained(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--address", address]) == 1
    assert capsys.readouterr().err == f"--address {address} is not HOST:PORT, such as 127.0.0.1:8000\n"
