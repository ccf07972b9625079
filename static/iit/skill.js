// While a workflow is written, the server says below the box what is wrong and draws it; a click or Enter on a
// line number goes there.
window.iitSkill = (() => {
  const PAUSE_MS = 500;

  // The key of the workflow's study; of a new one, that which is chosen by now, or none.
  const project = () => {
    const { elements } = document.getElementById("id_config").form;
    return document.getElementById("skill-check").dataset.project ?? elements.project?.value ?? "";
  };

  // What is to start the workflow: what it must hold depends on that.
  const STARTS = ["skill_type", "trigger_type", "cron_schedule"];
  const starts = () => {
    const { elements } = document.getElementById("id_config").form;
    return Object.fromEntries(STARTS.filter((name) => elements[name]).map((name) => [name, elements[name].value]));
  };

  const goTo = (box, line) => {
    if (box.hidden) {
      box.dispatchEvent(new CustomEvent("sop:line", { detail: line }));
      return;
    }
    const rows = box.value.split("\n");
    const from = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
    box.focus();
    box.setSelectionRange(from, from + rows[line - 1].length);
    box.scrollTop = Math.max(0, (line - 5) * (box.scrollHeight / rows.length));
  };

  const start = () => {
    const shown = document.getElementById("skill-check");
    const box = document.getElementById("id_config");
    if (!shown) return;
    shown.addEventListener("click", (event) => {
      const chip = event.target.closest("[data-line]");
      if (chip && box) goTo(box, Number(chip.dataset.line));
    });
    if (!box) return;
    const token = box.form.querySelector("[name=csrfmiddlewaretoken]").value;
    let timer = 0;
    let asked = 0;
    const refresh = async () => {
      const number = ++asked;
      const answer = await fetch(shown.dataset.check, {
        method: "POST",
        headers: { "X-CSRFToken": token },
        body: new URLSearchParams({ config: box.value, project: project(), skill: shown.dataset.skill ?? "", ...starts() }),
      }).catch(() => null);
      if (number !== asked || !answer?.ok || answer.redirected) return;
      shown.innerHTML = await answer.text();
      shown.classList.remove("is-stale");
      document.dispatchEvent(new Event("iit:checked"));
    };
    const soon = () => {
      shown.classList.add("is-stale");
      clearTimeout(timer);
      timer = setTimeout(refresh, PAUSE_MS);
    };
    box.addEventListener("input", soon);
    for (const name of ["project", ...STARTS]) box.form.elements[name]?.addEventListener("change", soon);
    if (box.value.trim() && box.value.trim() !== "null") refresh();
  };
  document.addEventListener("DOMContentLoaded", start);
  return { project };
})();
