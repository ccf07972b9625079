// In a JSON box in which somebody types, the Tab key indents; Escape, then Tab leaves it. Who only comes past with
// the Tab key goes on with it.
(() => {
  const boxOf = (event) => (event.target instanceof HTMLTextAreaElement && event.target.dataset.iitJson ? event.target : null);

  const edits = (event) => {
    const box = boxOf(event);
    if (box) box.dataset.edits = "1";
  };
  document.addEventListener("pointerdown", edits);
  document.addEventListener("input", edits);

  document.addEventListener("focusout", (event) => {
    const box = boxOf(event);
    if (box) delete box.dataset.edits;
  });

  document.addEventListener("keydown", (event) => {
    const box = boxOf(event);
    if (!box) return;
    if (event.key === "Escape") {
      delete box.dataset.edits;
    } else if (event.key === "Tab" && !event.shiftKey && box.dataset.edits) {
      event.preventDefault();
      box.setRangeText("  ", box.selectionStart, box.selectionEnd, "end");
    }
  });
})();
