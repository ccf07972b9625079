// Ready-made reasons fill the box; nothing here sends a form.
document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-reason]");
  if (!chip) return;
  const box = document.getElementById(chip.dataset.target);
  if (!box) return;
  const said = box.value.trim();
  box.value = said && !said.includes(chip.dataset.reason) ? `${said}；${chip.dataset.reason}` : chip.dataset.reason;
  box.focus();
});

// Ctrl+Enter in a reason decides nothing: a decision is a click.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest("[data-no-shortcut]")) {
    event.preventDefault();
  }
});

// A second click on a decision is not a second decision.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-once]")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  document.querySelectorAll("[data-once]").forEach((form) => delete form.dataset.sent);
});
