// The desk's keys. A decision takes two: one goes to its button, Enter presses it.
document.addEventListener("DOMContentLoaded", () => {
  const help = document.getElementById("iit-keys");
  const rows = [...document.querySelectorAll("[data-desk-row]")];
  const reason = document.getElementById("decision_reason");

  document.querySelector("[data-keys-help]")?.addEventListener("click", () => help.showModal());

  const chips = reason ? [...document.querySelectorAll("[data-target=decision_reason]")] : [];
  const choose = (chip) => {
    chip.click();
    reason.blur();
  };

  const walk = (step) => {
    const here = rows.indexOf(document.activeElement);
    rows[Math.min(Math.max(here + step, 0), rows.length - 1)]?.focus();
  };

  const acts = {
    "?": () => help.showModal(),
    e: () => reason?.focus(),
    r: () => (reason?.value.trim() ? document.querySelector("button[data-key=r]")?.focus() : reason?.focus()),
    a: () =>
      reason?.dataset.mustExplain !== undefined && !reason.value.trim()
        ? reason.focus()
        : document.querySelector("button[data-key=a]")?.focus(),
    j: () => (rows.length ? walk(1) : document.querySelector("a[data-key=j]")?.click()),
    k: () => (rows.length ? walk(-1) : document.querySelector("a[data-key=k]")?.click()),
    u: () => document.querySelector("a[data-key=u]")?.click(),
    "/": () => document.querySelector("a[data-key='/']")?.click(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const chip = /^[1-9]$/.test(event.key) && chips[event.key - 1];
    const act = chip ? () => choose(chip) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
});
