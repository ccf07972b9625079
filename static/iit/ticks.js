// One box ticks all boxes of its table.
document.addEventListener("change", (event) => {
  const table = document.getElementById(event.target.dataset?.ticks ?? "");
  if (!table) return;
  table.querySelectorAll("tbody input[type=checkbox]").forEach((box) => (box.checked = event.target.checked));
});
