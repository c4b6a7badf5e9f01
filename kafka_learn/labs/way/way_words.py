"""The words of ``labs`` and ``labs next`` in both languages."""

from __future__ import annotations

_WORDS = {
    "last": ("Where you were", "上次做到这里"),
    "all points": ("All points. Compare your code with the shipped code:", "已经满分。与项目代码比较："),
    "your task": ("Your task: {number}, {title}", "当前任务：{number}，{title}"),
    "write": (": write {functions}", "：要写 {functions}"),
    "points": ("{points} points", "{points} 分"),
    "no check": ("not checked yet", "还没有检查过"),
    "next": ("Next:", "下一步："),
    "stuck": ("Stuck?", "没有思路？"),
    "also": ("Also begun:", "还没做完的："),
    "first": ("No lab was begun yet. The first one on the way:", "还没有开始任何实验。第一个是："),
    "next lab": ("The next lab on the way:", "下一个实验："),
    "or": ("Or:", "也可以做："),
    "all": ("All {count} labs are done or begun.", "全部 {count} 个实验都已完成或开始。"),
    "lab": ("lab", "实验"),
    "goal": ("goal", "目标"),
    "before": ("before", "先读"),
    "after": ("comes after", "先做"),
    "then": ("then", "之后"),
    "time": ("time", "时间"),
    "difficulty": ("difficulty", "难度"),
    "easy": ("easy", "容易"),
    "medium": ("medium", "中等"),
    "hard": ("hard", "较难"),
    "needs": ("needs", "需要"),
    "extra": (
        "the extra {extra} of kafka_lite; make setup installs it",
        "kafka_lite 的附加组件 {extra}，make setup 会安装",
    ),
    "tasks": ("tasks", "任务"),
    "earned": ("points", "得分"),
    "solution": ("solution", "答案"),
    "seen at": ("seen at {points} points", "得 {points} 分时看过"),
    "text": ("text", "说明"),
    "task": ("task", "任务"),
    "test": ("test", "测试"),
    "total": ("total", "合计"),
    "legend": (
        "✓ passed   ✗ failed   · waits for your code or for other tests",
        "✓ 通过   ✗ 未通过   · 等你写代码，或者等其他测试",
    ),
    "printed": (
        "What your code printed in this test: {title}",
        "你的代码在这个测试里打印的内容：{title}",
    ),
    "all with broker": (
        "All tests pass, and a real broker ran with your code. Compare: {command}",
        "测试全部通过，真正的 broker 也用你的代码运行过了。与项目代码比较：{command}",
    ),
    "now the broker": (
        "The tests pass. Now run the broker with your code: {command}",
        "测试通过。接下来让 broker 用你的代码运行：{command}",
    ),
    "expected": (
        "This failure is expected: the functions are not written yet.",
        "现在不通过是正常的：函数还没有写。",
    ),
    "no hint left": ("That was the last hint. Next:", "提示到此为止。下一步："),
    "check": (": check {functions}", "：请检查 {functions}"),
    "checking": ("checking {lab} (at most {seconds:g} s)", "正在检查 {lab}（最多 {seconds:g} 秒）"),
    "watching": (
        "Watching: save a file to check again, Ctrl-C to end.",
        "保存文件就会再检查一次，按 Ctrl-C 结束。",
    ),
    "your files": (
        "Your files are the shipped modules with some function bodies removed:",
        "下面是你的文件：项目自己的模块，去掉了一些函数体：",
    ),
    "the tasks": ("The tasks:", "任务："),
    "the tests": ("The tests:", "测试："),
    "fails at first": ("(it fails until you write the code)", "（写好代码之前不会通过）"),
    "fresh": ("A fresh starter is in {folder}.", "新的起点在 {folder}。"),
    "imported": ("{lab}: your files of the page are in {folder}.", "{lab}：网页上写的文件在 {folder}。"),
    "kept": ("Your previous work is in {folder}.", "原来的文件在 {folder}。"),
    "after a try": (
        "The solution comes after a try: {command}. --yes shows it now.",
        "先检查一次再看答案：{command}。--yes 立即显示。",
    ),
    "on request": (
        "The solution is shown on request only: --yes shows it without asking.",
        "答案只在你要求时才显示：--yes 不问就显示。",
    ),
    "left to do": (
        "Tasks that are open: {tasks}. Hints that you have not seen: {hints}.",
        "没有完成的任务：{tasks}。还没有看过的提示：{hints} 条。",
    ),
    "none": ("none", "没有"),
    "show it": ("Show the solution? That is recorded. [y/N] ", "显示答案吗？这会记录下来。[y/N] "),
    "identical": (
        "{file}: yours is identical to the shipped code.",
        "{file}：你的与项目代码完全相同。",
    ),
    "elsewhere": (
        "{found} is from before labs belonged to the clone: move its folders to {base} to continue there.",
        "{found} 是旧版本留下的：现在实验放在项目目录里，请把其中的目录移到 {base}，才能接着做。",
    ),
}


def word(name: str, language: str, **values: object) -> str:
    """The words for something, with values filled in."""
    return _WORDS[name][language == "zh"].format(**values)
