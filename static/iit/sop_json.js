// The JSON of a workflow in CodeMirror, in step with the box that is sent: what is typed here goes there, and what
// the graph editor writes there comes here. Without scripts the box itself is edited.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("id_config");
  if (!box || !document.getElementById("sop-editor")) return;
  const { EditorState, EditorView, HighlightStyle, tags: tag } = CodeMirror;
  const label = document.querySelector("label[for=id_config]")?.textContent.trim() || "JSON";
  const highlight = HighlightStyle.define([
    { tag: tag.propertyName, color: "var(--iit-info)" },
    { tag: tag.string, color: "var(--iit-ok)" },
    { tag: [tag.number, tag.bool, tag.null], color: "var(--iit-warn)" },
  ]);
  const { texts, phrases } = JSON.parse(document.getElementById("sop-editor").dataset.outline);
  const parse = CodeMirror.jsonParseLinter();
  // The parser of the browser speaks English only.
  const lint = (one) => parse(one).map((found) => ({ ...found, message: texts.broken }));
  let isTold = false;

  const follow = EditorView.updateListener.of((update) => {
    if (!update.docChanged || isTold) return;
    view.setTabFocusMode(false);
    box.value = update.state.doc.toString();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  // Who only comes past with the Tab key goes on with it; while somebody types it indents, until Escape.
  const tabs = EditorView.domEventHandlers({
    blur: () => view.setTabFocusMode(true),
    keydown: (event) => {
      if (event.key === "Escape") view.setTabFocusMode(true);
    },
  });
  const view = new EditorView({
    state: EditorState.create({
      doc: box.value,
      extensions: [
        CodeMirror.lineNumbers(), CodeMirror.foldGutter(), CodeMirror.history(), CodeMirror.drawSelection(),
        CodeMirror.indentOnInput(), CodeMirror.bracketMatching(), CodeMirror.highlightActiveLine(),
        CodeMirror.json(), CodeMirror.syntaxHighlighting(highlight), CodeMirror.linter(lint), CodeMirror.lintGutter(), EditorState.phrases.of(phrases),
        CodeMirror.keymap.of([
          ...CodeMirror.historyKeymap, ...CodeMirror.foldKeymap, ...CodeMirror.defaultKeymap,
          CodeMirror.indentWithTab,
        ]),
        EditorView.lineWrapping, EditorView.editorAttributes.of({ class: "sop-json" }), EditorView.contentAttributes.of({ "aria-label": label, id: "id_config_json", tabindex: "0" }), tabs, follow,
      ],
    }),
  });
  view.setTabFocusMode(true);
  box.before(view.dom);
  box.hidden = true;
  document.querySelector("label[for=id_config]")?.setAttribute("for", "id_config_json");

  box.addEventListener("input", () => {
    const stands = view.state.doc.toString();
    if (stands === box.value) return;
    isTold = true;
    view.dispatch({ changes: { from: 0, to: stands.length, insert: box.value } });
    isTold = false;
  });
  // A line that is to be shown: of a problem that the check found.
  box.addEventListener("sop:line", (event) => {
    const line = view.state.doc.line(Math.min(event.detail, view.state.doc.lines));
    view.dispatch({ selection: { anchor: line.from, head: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
    view.focus();
  });
});
