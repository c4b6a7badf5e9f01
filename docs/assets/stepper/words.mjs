// The words of the stepper in the language of the page.

const WORDS = {
  en: {
    play: "Play", pause: "Pause", next: "Next step", previous: "Step back", whole: "Whole figure", slider: "Step of the run",
    lanes: "Lanes", state: "State", line: "Line", group: "Play the recorded run", count: (place, all) => `${place} of ${all}`,
    hint: "Play the run step by step; the arrow keys step, too.",
  },
  zh: {
    play: "播放", pause: "暂停", next: "下一步", previous: "上一步", whole: "整张图", slider: "运行的步骤",
    lanes: "泳道", state: "状态", line: "代码", group: "播放这次运行的记录", count: (place, all) => `第 ${place} 步，共 ${all} 步`,
    hint: "逐步播放这次运行，也可以用方向键。",
  },
};

export const wordsOf = language => WORDS[language.startsWith("zh") ? "zh" : "en"];
