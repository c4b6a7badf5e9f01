// The words of a lab's page in both languages. Those of a check are the command line's (kafka_learn/labs/way).

const ENGLISH = {
  open: "Write it here", check: "Check", stop: "Stop", hint: "Hint", reset: "Start over", difference: "Show my changes", hide: "Hide my changes",
  solution: "Solution", hideSolution: "Hide the solution", toShipped: "From your code to the shipped code:",
  identical: "Your file is identical to the shipped code.",
  sureOfSolution: "The lab is not done yet. Show how the shipped code differs from yours? That is recorded.",
  export: "Export", editor: "Your code. Tab indents; Escape, then Tab, leaves the editor", files: "Files", tasks: "Tasks", tests: "Tests", hints: "Hints",
  engine: "Loading Python (7 MB, once)…", source: "Loading the labs…", checking: "Checking…", ready: "",
  unable: "This build of the site has no Python interpreter, or your browser cannot run it: use the clone.",
  lost: "The check ended without a result", hung: "It was ended, for it said nothing for {} s.",
  sure: "Throw away what you have written in this lab?", same: "Your files are still as they were at the beginning.",
  last: "That was the last hint of this task.", task: "Task",
  exported: "The file has all labs of this browser. In the clone:", best: "Best in this page", printed: "Printed",
};
const CHINESE = {
  open: "在这里写", check: "检查", stop: "停止", hint: "提示", reset: "重新开始", difference: "看我的改动", hide: "收起我的改动",
  solution: "答案", hideSolution: "收起答案", toShipped: "从你的代码到项目代码：", identical: "你的文件与项目代码完全相同。",
  sureOfSolution: "实验还没有做完。显示项目代码与你的代码的差别吗？这会记录下来。",
  export: "导出", editor: "你的代码。Tab 缩进；先按 Esc 再按 Tab 离开编辑器", files: "文件", tasks: "任务", tests: "测试", hints: "提示",
  engine: "正在加载 Python（7 MB，只需一次）……", source: "正在加载实验……", checking: "正在检查……", ready: "",
  unable: "这个网站没有带上 Python 解释器，或者你的浏览器运行不了它：请克隆项目。",
  lost: "检查没有给出结果就结束了", hung: "它 {} 秒没有动静，已被结束。",
  sure: "丢掉你在这个实验里写的代码吗？", same: "你的文件还和开始时一样。",
  last: "这个任务的提示到此为止。", task: "任务",
  exported: "文件里是这个浏览器里的所有实验。在克隆的项目里运行：", best: "本页最好成绩", printed: "打印的内容",
};
export const language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
export const words = language === "zh" ? CHINESE : ENGLISH;
