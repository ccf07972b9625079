// Long work that the server does part by part: the next part is asked for until none is left; a link cancels.
async function goOn() {
  const form = document.querySelector("#parts form[data-parts]");
  if (!form) return;
  const answer = await fetch(location.href, { method: "POST", body: new FormData(form) }).catch(() => null);
  // Whatever went wrong: the button is still there.
  if (!answer?.ok || answer.redirected || !form.isConnected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("parts");
  if (!fresh) return;
  document.getElementById("parts").replaceWith(fresh);
  goOn();
}
goOn();
