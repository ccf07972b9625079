// Shows beside the editor what its text will look like; the server renders and cleans it.
(() => {
  const start = (box) => {
    const shown = document.getElementById(`${box.id}_preview`);
    const token = box.form.querySelector("[name=csrfmiddlewaretoken]").value;
    let timer = 0;
    let asked = 0;
    const refresh = async () => {
      const number = ++asked;
      const answer = await fetch(box.dataset.preview, {
        method: "POST",
        headers: { "X-CSRFToken": token },
        body: new URLSearchParams({ content: box.value }),
      }).catch(() => null);
      if (number !== asked || !answer || answer.redirected) return;
      if (answer.ok) shown.innerHTML = await answer.text();
      else if (answer.status === 400) shown.textContent = await answer.text();
      else return;
      shown.classList.remove("is-stale");
    };
    box.addEventListener("input", () => {
      shown.classList.add("is-stale");
      clearTimeout(timer);
      timer = setTimeout(refresh, 300);
    });
    refresh();
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("textarea[data-preview]").forEach(start);
  });
})();
