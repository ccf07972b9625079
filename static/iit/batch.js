// A batch that goes on shows its progress anew every few seconds; without scripts there is the link.
const PAUSE_MS = 4000;

async function renew() {
  const shown = document.getElementById("batch-progress");
  if (!shown || !("goesOn" in shown.dataset)) return;
  const inUse = document.hidden || shown.contains(document.activeElement);
  if (!inUse) {
    try {
      const answer = await fetch(location.href, {
        credentials: "same-origin",
        headers: { "X-Unattended": "1" },
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("batch-progress");
      if (fresh) shown.replaceWith(fresh);
    } catch {
      // The next time, perhaps.
    }
  }
  setTimeout(renew, PAUSE_MS);
}
setTimeout(renew, PAUSE_MS);
