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

// A box that holds something else than what would be sent (half a date, a number with a letter, text that is no JSON)
// is said; the admin's forms leave that out (novalidate).
document.addEventListener("submit", (event) => {
  if (event.submitter?.formNoValidate) return;
  const bad = [...event.target.elements].find((one) => one.willValidate && (one.validity.badInput || one.validity.customError));
  if (!bad) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  for (let fold = bad.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  bad.reportValidity();
}, true);

// A log-in that ended while somebody wrote would swallow the text: ask first, and keep the page.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const token = form.querySelector("[name=csrfmiddlewaretoken]");
  const known = form.dataset.known;
  delete form.dataset.known;
  if (known || !token || !form.querySelector("textarea")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form.dataset.asking) return;
  form.dataset.asking = "1";
  document.querySelector("p.iit-logged-out")?.remove();
  const ask = { cache: "no-store", redirect: "manual" };
  const ended = document.getElementById("iit-logged-out");
  const answer = await fetch(ended.dataset.ask, ask).catch(() => null);
  delete form.dataset.asking;
  if (answer?.type === "opaqueredirect") {
    document.body.append(ended.content.cloneNode(true));
    return;
  }
  // A new log-in brings a new token, and the cookie is where this page can see it.
  token.value = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? token.value;
  form.dataset.known = "1";
  form.requestSubmit(event.submitter);
}, true);

// A second click on a decision is not a second decision.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-once]")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  document.querySelectorAll("[data-once]").forEach((form) => delete form.dataset.sent);
});

// The link past the menu moves the focus, not only the view.
document.addEventListener("click", (event) => {
  const content = event.target.closest(".iit-skip") && document.getElementById("content");
  if (!content) return;
  event.preventDefault();
  content.tabIndex = -1;
  content.focus();
});

// Escape closes what is open: the folded part that holds the focus, else the menus of the page.
document.addEventListener("keydown", (event) => {
  // Within an input method Escape gives up a candidate.
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  const folded = event.target.closest("details.iit-folded[open]");
  if (folded) {
    folded.open = false;
    folded.querySelector("summary").focus();
    return;
  }
  // Unfold's menus close on a click beside them, and on nothing else.
  document.body.dispatchEvent(new MouseEvent("click", { bubbles: true }));
});

// Unfold's openers are links without an address: the keyboard must reach and press them, too.
const OPENERS = "[x-on\\:click]:is(.cursor-pointer, .material-symbols-outlined):not([href], button, input)";
document.addEventListener("alpine:initialized", () => {
  document.querySelectorAll(OPENERS).forEach((opener) => {
    opener.tabIndex = 0;
    opener.setAttribute("role", "button");
  });
});
document.addEventListener("keydown", (event) => {
  if (!["Enter", " "].includes(event.key) || !event.target.matches(OPENERS)) return;
  event.preventDefault();
  event.target.click();
});

// ? tells the keys; a page with keys of its own tells its own.
document.addEventListener("keydown", (event) => {
  const help = document.getElementById("iit-house-keys");
  const other = document.getElementById("iit-keys") || document.querySelector("dialog[open]");
  if (event.key !== "?" || !help || other || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  help.showModal();
});

// A choice that is the whole form is made by choosing.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
});
