// Files dropped on the page are sent one by one; while files are read the list is shown anew.
const PAUSE_MS = 2000;
const form = document.getElementById("upload-form");

async function send(files) {
  const state = document.getElementById("upload-state");
  const most = Number(document.getElementById("files").dataset.most);
  for (const [at, file] of [...files].entries()) {
    state.textContent = `${at + 1} / ${files.length} ${file.name}`;
    const body = new FormData(form);
    body.delete("files");
    // What is too large is not sent: only its name, so that the page that is shown at the end refuses it in words.
    if (file.size > most) body.append("too_large", file.name);
    else body.append("files", file);
    let refused = "✗";
    try {
      // The redirect is not followed: what it would tell is for the page that is shown at the end.
      const answer = await fetch(form.action, { method: "POST", body, redirect: "manual", credentials: "same-origin" });
      if (answer.type === "opaqueredirect") continue;
      if (answer.headers.get("Content-Type")?.startsWith("text/plain")) refused = await answer.text();
    } catch {
      // Nothing came back; the file can be sent again.
    }
    state.textContent = `${file.name}: ${refused}`;
    return;
  }
  const project = form.querySelector("[name=project]");
  location.href = project ? `?project=${encodeURIComponent(project.value)}` : location.pathname;
}

if (form) {
  const drop = document.getElementById("drop");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(document.getElementById("files").files);
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("is-over", name === "dragover");
    });
  }
  drop.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length) send(event.dataTransfer.files);
  });
}

async function renew() {
  const shown = document.getElementById("uploads");
  if (!shown || !("goesOn" in shown.dataset)) return;
  try {
    const answer = await fetch(location.href, {
      credentials: "same-origin",
      headers: { "X-Unattended": "1" },
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("uploads");
    if (fresh && !("goesOn" in fresh.dataset) && !form) location.reload();
    if (fresh) shown.replaceWith(fresh);
  } catch {
    // The next time, perhaps.
  }
  setTimeout(renew, PAUSE_MS);
}
setTimeout(renew, PAUSE_MS);
