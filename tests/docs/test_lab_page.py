"""Labs solved in a real browser: written, checked, failed, hung, kept and exported; in English and Chinese.

All of them, and the checks that one has to wait for, run at night only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.lab_page import lab_files
from kafka_learn.site.lab_page.workbench import elements
from kafka_learn.site.live_page import live_engine
from kafka_learn.source import module_path
from tests.support import chromium

HTML = """<!doctype html><html lang="{language}"><head><meta charset="utf-8"></head><body>{elements}</body></html>"""
SELECTORS = "ch07-leader-selectors"
FUTURE = "ch04-request-future"
"""Its tests start threads."""
DONE = "document.querySelector('[data-role=check]') && document.querySelector('[data-role=verdict]').dataset.state"

pytestmark = [
    pytest.mark.skipif(
        chromium.chromium() is None or not live_engine.has_npm(), reason="needs Chromium, and npm for Pyodide"
    ),
    pytest.mark.soak,
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages' files at their places."""
    folder = tmp_path_factory.mktemp("site")
    for part in ("live", "labs"):
        assets = folder / "assets" / part
        assets.mkdir(parents=True)
        for path in (PROJECT_ROOT / "docs" / "assets" / part).iterdir():
            (assets / path.name).write_bytes(path.read_bytes())
    list(live_engine.write(folder / "assets" / "live" / "engine"))
    list(lab_files.write(folder / "assets" / "labs"))
    for language in ("en", "zh"):
        for lab in all_labs():
            text = HTML.format(language=language, elements=elements(lab, "assets/labs"))
            (folder / f"{language}-{lab.name}.html").write_text(text, encoding="utf-8")
    return folder


def write(page: chromium.Page, text: str, file: int = 0) -> None:
    """Replace all that is in the editor, as one who pastes does."""
    page.evaluate(f"document.querySelectorAll('[data-role=file]')[{file}].click()")
    page.evaluate(f"""(() => {{
      const content = document.querySelector('.cm-content');
      content.focus();
      content.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'a', keyCode: 65, ctrlKey: true, bubbles: true }}));
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', {json.dumps(text)});
      content.dispatchEvent(new ClipboardEvent('paste', {{ clipboardData, bubbles: true, cancelable: true }}));
    }})()""")


def opened(page: chromium.Page, address: str, lab: str, language: str = "en") -> None:
    page.load(f"{address}{language}-{lab}.html")
    page.until("document.querySelector('[data-role=open], [data-role=check]')")
    page.evaluate("document.querySelector('[data-role=open]')?.click()")
    page.until("document.querySelector('.cm-content')")


def checked(page: chromium.Page) -> str:
    """Check, and the verdict."""
    page.evaluate("document.querySelector('[data-role=verdict]').removeAttribute('data-state')")
    page.click("[data-role=check]")
    page.until(DONE)
    return shown(page, "verdict")


def shown(page: chromium.Page, role: str) -> str:
    text: str = page.evaluate(
        f"[...document.querySelectorAll('[data-role={role}]')].map(e => e.textContent).join('\\n')"
    )
    return text


def line_at_hand(page: chromium.Page) -> str:
    line: str = page.evaluate("document.querySelector('.cm-activeLine').textContent")
    return line


def states(page: chromium.Page, role: str) -> list[str]:
    found: list[str] = page.evaluate(f"[...document.querySelectorAll('[data-role={role}]')].map(e => e.dataset.state)")
    return found


def exported(page: chromium.Page) -> str:
    """What the page would download."""
    page.evaluate("URL.createObjectURL = blob => { window.blob = blob; return '#'; }")
    page.click("[data-role=export]")
    text: str = page.evaluate("window.blob.text()")
    return text


def in_clone(folder: Path, downloaded: str) -> None:
    """What the page tells one to do with it."""
    (folder / "kafka-lite-labs.json").write_text(downloaded, encoding="utf-8")
    words = [sys.executable, "-m", "kafka_lite.tools.main", "labs", "import", str(folder / "kafka-lite-labs.json")]
    done = subprocess.run(words, cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def answers(name: str) -> dict[str, str]:
    return {module: module_path(module).read_text(encoding="utf-8") for module in find_lab(name).modules}


def wrong_answer(name: str) -> tuple[str, str]:
    """The first of the lab's wrong answers, in a lab of one module, and what the check says about it."""
    row: dict[str, Any] = tomllib.loads((find_lab(name).folder / "wrong.toml").read_text(encoding="utf-8"))["answer"][0]
    (text,) = answers(name).values()
    return text.replace(row["replace"], row["by"]), row["says"]


def test_a_reader_errs_asks_for_a_hint_solves_and_takes_it_into_a_clone(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        opened(page, address, SELECTORS)
        assert "your task 1: " in line_at_hand(page)
        assert states(page, "solution") == []  # it comes after a check
        page.evaluate("document.querySelectorAll('[data-role=to-task]')[1].click()")
        assert "your task 2: " in line_at_hand(page)
        assert checked(page).startswith("This failure is expected")
        assert set(states(page, "test")) == {"waits"}
        page.click("[data-role=hint]")
        assert shown(page, "hint-text") == f"Task 1, 1/3: {find_lab(SELECTORS).tasks[0].hints[0]}"
        text, says = wrong_answer(SELECTORS)
        write(page, text)
        assert checked(page).startswith("Your task: 1,")
        assert says in shown(page, "message")
        assert states(page, "task")[:2] == ["half", "done"]
        page.click("[data-role=show-difference]")
        assert "+ " in shown(page, "difference")
        page.evaluate("window.confirm = () => true; document.querySelector('[data-role=solution]').click()")
        page.until("document.querySelector('[data-role=solution-text] .lab-more')")
        (solution,) = answers(SELECTORS).values()
        assert all(line[2:] in solution for line in shown(page, "solution-text").splitlines() if line.startswith("+"))
        write(page, solution)
        assert shown(page, "solution-text") == "Your file is identical to the shipped code."
        assert checked(page).startswith("The tests pass. Now run the broker with your code: ")
        assert set(states(page, "test")) == {"passed"}
        page.load(f"{address}en-{SELECTORS}.html")  # what was written opens by itself
        page.until("document.querySelector('.cm-content')")
        assert states(page, "task")[:2] == ["done", "done"]
        assert shown(page, "best") == "Best in this page: 85/85"
        in_clone(tmp_path, exported(page))
        workspace = LabWorkspace(find_lab(SELECTORS))
        written = {module: path.read_text(encoding="utf-8") for module, path in workspace.files().items()}
        assert written == answers(SELECTORS)
        assert (workspace.progress().tasks_passed, workspace.progress().hints) == ([1, 2], {"1": 1})
        assert 0 < workspace.progress().solution_seen_at < 85
        page.evaluate("window.confirm = () => true; document.querySelector('[data-role=reset]').click()")
        assert set(states(page, "task")) == {"open"}
        page.evaluate("document.querySelector('.cm-scroller').scrollTop = 0")
        page.until("document.querySelector('.cm-content').textContent.length > 100")
        assert json.loads(page.evaluate("localStorage.getItem('kafka_lite.labs')"))["labs"][SELECTORS]["files"] == {}


def test_a_lab_with_threads_is_solved_in_chinese(site: Path, tmp_path: Path) -> None:
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        opened(page, address, FUTURE, "zh")
        assert checked(page).startswith("现在不通过是正常的")
        for number, text in enumerate(answers(FUTURE).values()):
            write(page, text, number)
        assert checked(page).startswith("测试通过。")
        assert all(task.title_in("zh") in shown(page, "tasks") for task in find_lab(FUTURE).tasks)


@pytest.mark.nightly
def test_a_loop_that_does_not_end_is_named_and_one_that_hears_nothing_is_ended(site: Path, tmp_path: Path) -> None:
    data = site / "assets" / "labs" / "data" / f"{SELECTORS}.json"
    data.write_text(json.dumps({**json.loads(data.read_text(encoding="utf-8")), "silence_s": 25}), encoding="utf-8")
    (module,) = find_lab(SELECTORS).modules
    head, _, tail = starter(find_lab(SELECTORS), module).partition("raise NotImplementedError(")
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        opened(page, address, SELECTORS)
        write(page, f"{head}while True:\n        pass\n    raise NotImplementedError({tail}")
        assert checked(page).startswith("Your task: 1,")
        assert "does that loop make progress?" in shown(page, "message")
        write(page, f"{head}sum(iter(int, 1))\n    raise NotImplementedError({tail}")  # in C: nothing is traced
        found = checked(page)
        assert found.startswith("The check was stopped during this test: ")
        assert found.endswith("It was ended, for it said nothing for 25 s.")
        (solution,) = answers(SELECTORS).values()
        write(page, solution)
        assert checked(page).startswith("The tests pass.")  # in a worker of its own


def test_a_reader_stops_a_check(site: Path, tmp_path: Path) -> None:
    (module,) = find_lab(SELECTORS).modules
    head, _, tail = starter(find_lab(SELECTORS), module).partition("raise NotImplementedError(")
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        opened(page, address, SELECTORS, "zh")
        write(page, f"{head}sum(iter(int, 1))\n    raise NotImplementedError({tail}")
        page.click("[data-role=check]")
        page.until("document.querySelector('[data-role=test][data-state=running]')")
        page.click("[data-role=stop]")
        page.until(DONE)
        assert shown(page, "verdict").startswith("检查在这个测试里被停止：")


@pytest.mark.nightly
@pytest.mark.parametrize("name", [lab.name for lab in all_labs() if lab.in_page])
def test_the_shipped_code_gets_all_points_in_the_browser(site: Path, tmp_path: Path, name: str) -> None:
    """Each has a browser of its own: one that has run fifty interpreters may lose its page."""
    with chromium.served(site) as address, chromium.page(tmp_path / "profile") as page:
        opened(page, address, name)
        for number, text in enumerate(answers(name).values()):
            write(page, text, number)
        assert checked(page).startswith("The tests pass."), page.evaluate("document.body.innerText")
