// The editor: CodeMirror, or where its files are not there, a textarea. Both:
//
//   new Editor(place, label, onchange, oncheck)   oncheck: Ctrl-Enter
//   text = …                                      another text, without a history
//   show(line, isWriting)                         scrolls there; the focus follows if one is about to write

import { element } from "../live/elements.mjs";

export async function editorClass() {
  try {
    const [state, view, commands, language, python, highlight] = await Promise.all([
      import("@codemirror/state"), import("@codemirror/view"), import("@codemirror/commands"),
      import("@codemirror/language"), import("@codemirror/lang-python"), import("@lezer/highlight"),
    ]);
    return codeMirror({ ...state, ...view, ...commands, ...language, ...python, ...highlight });
  } catch (error) {
    console.warn(error);
    return PlainEditor;
  }
}

// Colours of Pygments, so that code looks as elsewhere on the site.
const COLOURS = [
  [["keyword", "bool", "null", "self", "operatorKeyword"], "keyword"], [["string", "docString"], "string"], [["number"], "number"],
  [["comment"], "comment"], [["definition", "className"], "function"], [["meta"], "special"],
];

function codeMirror(cm) {
  const { tags } = cm;
  const colour = (name) => `var(--md-code-hl-${name}-color)`;
  const styles = COLOURS.flatMap(([names, kind]) => names.map((name) => ({
    tag: name === "definition" ? tags.function(tags.definition(tags.variableName)) : tags[name], color: colour(kind),
  }))).filter((style) => style.tag);
  return class {
    constructor(place, label, onchange, oncheck) {
      this.view = new cm.EditorView({ parent: place });
      this.extensions = [
        cm.lineNumbers(), cm.history(), cm.drawSelection(), cm.indentOnInput(), cm.bracketMatching(), cm.highlightActiveLine(),
        cm.python(), cm.indentUnit.of("    "), cm.EditorState.tabSize.of(4), cm.syntaxHighlighting(cm.HighlightStyle.define(styles)),
        cm.keymap.of([{ key: "Mod-Enter", run: () => { oncheck(); return true; } }, cm.indentWithTab, ...cm.defaultKeymap, ...cm.historyKeymap]),
        cm.EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        cm.EditorView.updateListener.of((update) => { if (update.docChanged) onchange(update.state.doc.toString()); }),
      ];
    }

    set text(text) {
      this.view.setState(cm.EditorState.create({ doc: text, extensions: this.extensions }));
    }

    show(line, isWriting) {
      const { doc } = this.view.state;
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines)).from;
      if (!isWriting) { // the effect would scroll the page, too
        this.view.dispatch({ selection: { anchor: at } });
        this.view.scrollDOM.scrollTop = this.view.lineBlockAt(at).top - this.view.scrollDOM.clientHeight / 2;
        return;
      }
      this.view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: "center" }) });
      this.view.focus();
    }
  };
}

class PlainEditor {
  constructor(place, label, onchange, oncheck) {
    this.area = element("textarea", { rows: 24, spellcheck: "false", "aria-label": label, oninput: () => onchange(this.area.value), onkeydown: (event) => this.key(event) });
    [this.changed, this.check] = [onchange, oncheck];
    place.append(this.area);
  }

  set text(text) {
    this.area.value = text;
  }

  key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.check();
    if (event.key !== "Tab" || event.shiftKey) return; // Shift-Tab leaves the field
    event.preventDefault();
    this.area.setRangeText("    ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.changed(this.area.value);
  }

  show(line, isWriting) {
    const lines = this.area.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = (this.area.scrollHeight / lines.length) * Math.max(0, line - this.area.rows / 2);
    if (isWriting) this.area.focus();
  }
}
