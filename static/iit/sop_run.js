// The dry run of the graph as it stands in the editor: the server walks it over a subject, the way is lit in the
// drawing, and the list says what came out at each node.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("sop-editor");
  const editor = root?.sop;
  const part = root?.querySelector("[data-run]");
  if (!editor || !part) return;
  const [subject, asks, button, shown] = ["#sop-subject", "[data-asks]", "[data-try]", "[data-tried]"].map((one) => part.querySelector(one));

  const clear = () => editor.drawn.elements().removeClass("is-lit");

  const light = () => {
    clear();
    for (const step of shown.querySelectorAll("[data-node]")) {
      const { node, edge, target } = step.dataset;
      const drawn = (key) => editor.drawn.getElementById(key);
      drawn(node).addClass("is-lit");
      if (!target) continue;
      drawn(target).addClass("is-lit");
      drawn(`${node} ${edge}`).filter((line) => line.target().id() === target).addClass("is-lit");
    }
  };

  const run = async () => {
    const config = editor.text;
    button.disabled = true;
    const answer = await fetch(part.dataset.run, {
      method: "POST",
      headers: { "X-CSRFToken": editor.box.form.querySelector("[name=csrfmiddlewaretoken]").value },
      body: new URLSearchParams({ config, project: window.iitSkill.project(), subject: subject.value.trim(), ...(asks.checked && { ask_llm: "on" }) }),
    }).catch(() => null);
    button.disabled = false;
    shown.classList.remove("is-stale");
    if (!answer?.ok || answer.redirected) {
      shown.textContent = editor.outline.texts.failed;
      clear();
      return;
    }
    shown.innerHTML = await answer.text();
    shown.classList.toggle("is-stale", config !== editor.text);
    if (config === editor.text) light();
  };

  button.addEventListener("click", run);
  subject.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else the whole form is sent
    if (!button.disabled) run();
  });
  shown.addEventListener("click", (event) => {
    const key = event.target.closest("[data-go]")?.dataset.go;
    if (key && editor.config?.nodes?.[key]) editor.choose(key);
  });
  // What was run is no longer what stands there.
  root.addEventListener("sop:changed", () => shown.classList.add("is-stale"));
});
