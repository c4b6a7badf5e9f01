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
    "not measured": (
        "{lab} has no measured task. These labs have one: {labs}",
        "{lab} 没有计时任务。有的是：{labs}",
    ),
    "not green": (
        "Only an answer whose tasks are green is measured. Task {number}, {title}, is not: {command}",
        "全部任务通过以后才计时。任务 {number}（{title}）还没有通过：{command}",
    ),
    "measuring": ("measuring, {number} of {count}", "正在计时，第 {number} 次，共 {count} 次"),
    "counting": ("counting instructions with valgrind", "正在用 valgrind 数指令"),
    "refused": ("The answer is not measured:", "这份答案不计时："),
    "measured wrong": (
        "round {number} has a wrong result.\n  yours:     {yours}\n  should be: {shipped}",
        "第 {number} 轮的结果不对。\n  你的结果：{yours}\n  应该是：　{shipped}",
    ),
    "measured raised": ("round {number} raised {error}", "第 {number} 轮抛出了 {error}"),
    "measured ended": ("its process ended before it was done: {output}", "进程没有做完就结束了：{output}"),
    "measured too long": ("its process was not done after {seconds:g} s", "进程 {seconds:g} 秒还没有做完"),
    "needs valgrind": (
        "Instructions are not counted: that needs valgrind (apt install valgrind). Times vary with what else runs.",
        "没有数指令：这需要 valgrind（apt install valgrind）。时间会受机器上其他程序的影响。",
    ),
    "no try": ("No try yet.", "还没有计过时。"),
    "try": ("try", "次"),
    "when": ("when", "时间"),
    "ms a round": ("ms/round", "毫秒/轮"),
    "ratio": ("ratio", "比值"),
    "instructions": ("1000 instr.", "千条指令"),
    "shipped line": ("│ reference", "│ 项目代码"),
    "of instructions": ("instructions", "指令"),
    "of time": ("processor time", "处理器时间"),
    "faster": (
        "Faster than the reference: {percent} % less {what}.",
        "比项目代码快：{what}少 {percent}%。",
    ),
    "slower": ("{percent} % more {what} than the reference.", "{what}比项目代码多 {percent}%。"),
    "as fast": ("As fast as the reference, by {what}.", "与项目代码一样快（按{what}）。"),
    "no hunt": ("{lab} has no race hunt. These labs have one: {labs}", "{lab} 没有竞态搜索。有的是：{labs}"),
    "hunting": ("hunting with {count} seeds", "正在用 {count} 个种子搜索"),
    "nothing found": (
        "{count} seeds, and every promise was kept.",
        "试了 {count} 个种子，承诺全都守住了。",
    ),
    "race found": ("Seed {seed}: {broken}", "种子 {seed}：{broken}"),
    "last steps": (
        "The last statements, a lane for each thread:",
        "最后执行的语句，每个线程一列：",
    ),
    "again": ("The same run again:", "再运行一次，完全相同："),
}


def word(name: str, language: str, **values: object) -> str:
    """The words for something, with values filled in."""
    return _WORDS[name][language == "zh"].format(**values)
