// The JSON box of a workflow: what static/iit/sop_json.js uses of CodeMirror, as one classic script.
export { EditorState } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { json, jsonParseLinter } from "@codemirror/lang-json";
export { linter, lintGutter } from "@codemirror/lint";
export { syntaxHighlighting, HighlightStyle, foldGutter, foldKeymap, bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
export { tags } from "@lezer/highlight";
