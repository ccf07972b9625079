// Shows beside the editor what its text will look like and above it how many tokens it has; the server renders and counts.
(() => {
  const start = (box) => {
    const shown = document.getElementById(`${box.id}_preview`);
    const token = box.form.querySelector("[name=csrfmiddlewaretoken]").value;
    const meter = document.getElementById(`${box.id}_meter`);
    let timer = 0;
    let asked = 0;
    const send = (address) => fetch(address, {
      method: "POST",
      headers: { "X-CSRFToken": token },
      body: new URLSearchParams({ content: box.value }),
    }).catch(() => null);
    const count = async (number) => {
      if (!box.dataset.meter) return;
      const answer = await send(box.dataset.meter);
      if (number === asked && answer?.ok && !answer.redirected) meter.innerHTML = await answer.text();
    };
    const refresh = async () => {
      const number = ++asked;
      count(number);
      const answer = await send(box.dataset.preview);
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
