// Template cards the way WeCom lays them out.

import { element, emoji, safeLink } from "./text.js";

const COLORS = ["grey", "black", "red", "green"];
let questions = 0;

function options(question, kind, many) {
  const name = `q${(questions += 1)}`;
  const box = element("fieldset", "options");
  if (question.title) box.append(element("legend", "", question.title));
  const list = question.option_list ?? [];
  list.forEach((option, index) => {
    const input = document.createElement("input");
    input.type = many ? "checkbox" : "radio";
    input.name = name;
    input.value = option.id;
    const chosen = question.selected_id;
    input.checked = kind === "checkbox" ? Boolean(option.is_checked) : option.id === chosen;
    box.append(element("label", "", input, element("span", "", emoji(option.text))));
  });
  box.dataset.question = question.question_key;
  box.disabled = Boolean(question.disable);
  return box;
}

function chosen(card) {
  const found = {};
  for (const box of card.querySelectorAll("fieldset[data-question]")) {
    const ids = [...box.querySelectorAll("input:checked")].map((input) => input.value);
    if (ids.length) found[box.dataset.question] = ids;
  }
  return found;
}

function row(item) {
  const value =
    item.type === 1 ? safeLink(item.url, item.value || item.url) : element("span", "", item.value ?? "");
  return element("div", "row", element("span", "key", item.keyname), element("span", "value", value));
}

function head(card) {
  const parts = [];
  if (card.source?.desc) {
    parts.push(element("div", `source ${COLORS[card.source.desc_color ?? 0]}`, card.source.desc));
  }
  const title = card.main_title ?? {};
  if (title.title) parts.push(element("h2", "", emoji(title.title)));
  if (title.desc) parts.push(element("p", "desc", title.desc));
  if (card.emphasis_content?.title) {
    const { title: big, desc = "" } = card.emphasis_content;
    parts.push(element("div", "emphasis", element("b", "", big), element("span", "", desc)));
  }
  if (card.quote_area?.quote_text) {
    const quoted = [card.quote_area.title ?? "", card.quote_area.quote_text].filter(Boolean);
    parts.push(element("blockquote", "", quoted.join("\n")));
  }
  if (card.sub_title_text) parts.push(element("p", "subtitle", emoji(card.sub_title_text)));
  return parts;
}

function body(card) {
  const parts = [];
  for (const item of card.vertical_content_list ?? []) {
    parts.push(element("div", "vertical", element("b", "", item.title), element("p", "", item.desc ?? "")));
  }
  const rows = card.horizontal_content_list ?? [];
  if (rows.length) parts.push(element("div", "rows", ...rows.map(row)));
  const jumps = (card.jump_list ?? []).filter((jump) => jump.url);
  for (const jump of jumps) parts.push(safeLink(jump.url, jump.title, "jump"));
  if (card.card_action?.url) parts.push(safeLink(card.card_action.url, "查看详情", "jump"));
  return parts;
}

function controls(card) {
  const parts = [];
  if (card.button_selection) parts.push(options(card.button_selection, "selection", false));
  if (card.checkbox) parts.push(options(card.checkbox, "checkbox", card.checkbox.mode === 1));
  for (const list of card.select_list ?? []) parts.push(options(list, "selection", false));
  return parts;
}

function button(item, style, press) {
  if (item.type === 1) return safeLink(item.url, item.text, `button style${style}`);
  const node = element("button", `button style${style}`, emoji(item.text));
  node.type = "button";
  node.dataset.testid = "card-button";
  node.dataset.key = item.key;
  node.addEventListener("click", () => press(item.key));
  return node;
}

/** A card as a node; `click(key, selected)` is called once per press and returns a promise. */
export function cardNode(card, active, click) {
  const node = element("article", `card ${card.card_type}`, ...head(card), ...body(card));
  const form = element("div", "controls", ...controls(card));
  const press = async (key) => {
    const selected = chosen(node);
    node.classList.add("busy");
    for (const one of node.querySelectorAll("button, fieldset")) one.disabled = true;
    if (await click(key, selected)) return;
    node.classList.remove("busy");
    for (const one of node.querySelectorAll("button, fieldset")) one.disabled = false;
  };
  const listed = [...(card.button_list ?? [])];
  if (card.submit_button) listed.push({ ...card.submit_button, style: 1 });
  for (const item of card.action_menu?.action_list ?? []) listed.push({ ...item, style: 4 });
  const done = Boolean(card.replace_text) || !active;
  const buttons = element("div", "buttons");
  if (card.replace_text) {
    const grey = element("button", "button done", emoji(card.replace_text));
    grey.disabled = true;
    buttons.append(grey);
  } else {
    buttons.append(...listed.map((item) => button(item, item.style ?? 1, press)));
  }
  if (form.childElementCount) node.append(form);
  if (buttons.childElementCount) node.append(buttons);
  if (done && listed.length) {
    node.classList.add("greyed");
    for (const one of node.querySelectorAll("button, fieldset")) one.disabled = true;
  }
  return node;
}

export function textCard(card) {
  const holder = element("article", "card textcard", element("h2", "", card.title));
  const plain = new DOMParser().parseFromString(card.description.replace(/<br\s*\/?>/g, "\n"), "text/html");
  holder.append(element("p", "desc", plain.body.textContent));
  holder.append(safeLink(card.url, card.btntxt || "详情", "jump"));
  return holder;
}
