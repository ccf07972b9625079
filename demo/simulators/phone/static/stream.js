// An answer of the smart bot: it grows until it is finished, then takes 👍 or 👎 with reasons.

import { element, emoji, markdown } from "./text.js";

const REASONS = { 1: "与问题无关", 2: "内容不完整", 3: "内容有错误", 4: "数据分析错误" };

function button(label, name, press) {
  const node = element("button", "vote", emoji(label));
  node.type = "button";
  node.dataset.testid = name;
  node.addEventListener("click", press);
  return node;
}

function reasonBox(vote) {
  const box = element("fieldset", "options reasons");
  box.dataset.testid = "reasons";
  for (const [id, text] of Object.entries(REASONS)) {
    const input = document.createElement("input");
    input.type = "checkbox";
    input.value = id;
    box.append(element("label", "", input, element("span", "", text)));
  }
  const chosen = () => [...box.querySelectorAll("input:checked")].map((input) => Number(input.value));
  box.append(button("提交", "vote-submit", () => vote({ type: 2, reasons: chosen() })));
  box.hidden = true;
  return box;
}

/** The bubble's content; `vote({type, reasons})` is called once per press. */
export function streamNode(entry, vote) {
  const parts = document.createDocumentFragment();
  parts.append(markdown(String(entry.content)));
  if (!entry.finish || !entry.feedback_id) return parts;
  const reasons = reasonBox(vote);
  const up = button("👍", "vote-up", () => vote({ type: entry.vote === 1 ? 3 : 1 }));
  const down = button("👎", "vote-down", () => {
    if (entry.vote === 2) vote({ type: 3 });
    else reasons.hidden = !reasons.hidden;
  });
  up.setAttribute("aria-pressed", String(entry.vote === 1));
  down.setAttribute("aria-pressed", String(entry.vote === 2));
  parts.append(element("div", "votes", up, down), reasons);
  return parts;
}
