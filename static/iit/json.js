// The Tab key indents inside a JSON box; Escape, then Tab leaves it.
document.addEventListener("keydown", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLTextAreaElement) || !box.dataset.iitJson) return;
  if (event.key === "Escape") {
    box.dataset.leave = "1";
  } else if (event.key === "Tab" && !event.shiftKey && !box.dataset.leave) {
    event.preventDefault();
    box.setRangeText("  ", box.selectionStart, box.selectionEnd, "end");
  } else if (event.key !== "Tab") {
    delete box.dataset.leave;
  }
});
