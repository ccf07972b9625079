// The keys of the findings desk and of the register of deviations: j and k walk, Enter opens (a link has the focus), x ticks, / searches.
document.addEventListener("DOMContentLoaded", () => {
  const help = document.getElementById("iit-keys");
  const rows = [...document.querySelectorAll("#result_list tbody :is(th, td) a:first-of-type")].filter(
    (link, at, all) => all.findIndex((other) => other.closest("tr") === link.closest("tr")) === at,
  );
  document.querySelector("[data-keys-help]")?.addEventListener("click", () => help.showModal());

  const walk = (step) => {
    const here = rows.indexOf(document.activeElement);
    rows[Math.min(Math.max(here + step, 0), rows.length - 1)]?.focus();
  };
  const go = (key) => document.querySelector(`a[data-key='${key}']`)?.click();
  const tick = () => document.activeElement.closest("tr")?.querySelector("input.action-select")?.click();

  const acts = {
    "?": () => help?.showModal(),
    j: () => (rows.length ? walk(1) : go("j")),
    k: () => (rows.length ? walk(-1) : go("k")),
    x: tick,
    e: () => document.querySelector("#resolution, #reason")?.focus(),
    "/": () => (rows.length ? document.getElementById("searchbar")?.focus() : go("/")),
  };

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
});
