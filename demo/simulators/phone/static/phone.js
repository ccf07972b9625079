// The chat: one long poll per member chosen, every address relative so that a proxy may mount it.

import { cardNode, textCard } from "./card.js";
import { streamNode } from "./stream.js";
import { clock, element, markdown, plain } from "./text.js";

const GAP_S = 300;
const TYPING_MS = 60000;
const RETRY_MS = 1500;
const find = (id) => document.getElementById(id);
const [memberBox, channelBox, chat, form, input, send, hint, newer] = [
  "member", "channel", "chat", "form", "input", "send", "hint", "newer",
].map(find);

const known = { members: [], seen: {}, epoch: "", newest: 0 };
let talk = null;

function fresh(user) {
  talk?.stop.abort();
  return { user, after: 0, epoch: "", entries: new Map(), nodes: new Map(), waiting: 0, stop: new AbortController() };
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.ok;
}

function atEnd() {
  return chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
}

function toEnd() {
  chat.scrollTop = chat.scrollHeight;
  newer.hidden = true;
}

function content(entry) {
  if (entry.type === "template_card") {
    const { user } = talk;
    return cardNode(entry.content, entry.active, (key, selected) =>
      post("click", { user, task_id: entry.task_id, key, selected }));
  }
  if (entry.type === "image") return picture(entry.content.media_id);
  if (entry.type === "textcard") return textCard(entry.content);
  if (entry.type === "stream") {
    const { user } = talk;
    return streamNode(entry, (vote) => post("vote", { user, id: entry.feedback_id, ...vote }));
  }
  return entry.type === "markdown" ? markdown(entry.content) : plain(String(entry.content));
}

function picture(id) {
  const image = element("img", "picture");
  image.src = `media?id=${encodeURIComponent(id)}`;
  image.alt = "图片";
  image.addEventListener("load", () => {
    if (newer.hidden) toEnd();
  });
  return image;
}

function bubble(entry) {
  if (entry.type === "recalled") return element("p", "stamp", "对方撤回了一条消息");
  const wide = ["template_card", "textcard", "image"].includes(entry.type);
  const body = element("div", `bubble ${entry.type}${wide ? " wide" : ""}`, content(entry));
  body.dataset.testid = "bubble";
  body.dataset.side = entry.side;
  body.title = clock(entry.time);
  const avatar = element("span", "avatar", entry.side === "me" ? memberName().slice(0, 1) : "AI");
  avatar.setAttribute("aria-hidden", "true");
  const line = element("div", `message ${entry.side}`, avatar, body);
  if (entry.status === "failed") line.append(element("span", "failed", "!"));
  return line;
}

function stamp(entry, before) {
  if (before && entry.time - before.time < GAP_S) return null;
  return element("p", "stamp", clock(entry.time));
}

function show(entry) {
  const old = talk.nodes.get(entry.id);
  const changed = JSON.stringify(talk.entries.get(entry.id)?.content) !== JSON.stringify(entry.content);
  const same = old && !changed && entry.type !== "recalled" && entry.type === "template_card";
  const before = [...talk.entries.values()].at(-1);
  talk.entries.set(entry.id, entry);
  if (same) return;
  const node = bubble(entry);
  if (old) {
    old.replaceWith(node);
  } else {
    const time = stamp(entry, before);
    if (time) chat.append(time);
    chat.append(node);
  }
  talk.nodes.set(entry.id, node);
}

function showTyping() {
  const busy = Date.now() < talk.waiting;
  hint.textContent = busy ? "对方正在输入…" : "";
}

function take(answer) {
  if (answer.epoch !== talk.epoch) {
    talk.epoch = answer.epoch;
    talk.entries.clear();
    talk.nodes.clear();
    chat.replaceChildren();
  }
  talk.after = answer.seq;
  const follow = atEnd() || talk.entries.size === 0;
  for (const entry of answer.entries) {
    const isNew = !talk.entries.has(entry.id);
    show(entry);
    if (!isNew) {
      if (entry.type === "stream" && entry.finish) talk.waiting = 0;
      continue;
    }
    if (entry.side === "me" && entry.status === "sending") talk.waiting = Date.now() + TYPING_MS;
    if (entry.side === "bot" && entry.type !== "passive_text" && entry.finish !== false) talk.waiting = 0;
  }
  showTyping();
  if (answer.entries.length && follow) toEnd();
  else if (answer.entries.some((entry) => entry.side === "bot")) newer.hidden = false;
  mark(answer.latest, answer.epoch);
}

function mark(latest, epoch) {
  if (epoch !== known.epoch) Object.assign(known, { epoch, seen: {} });
  known.newest = Math.max(0, ...Object.values(latest));
  const mine = talk.user.toLowerCase();
  known.seen[mine] = latest[mine] ?? 0;
  for (const option of memberBox.options) {
    const user = option.value.toLowerCase();
    known.seen[user] ??= 0;
    const unread = (latest[user] ?? 0) > known.seen[user];
    option.textContent = (unread ? "● " : "") + option.dataset.label;
  }
  const others = [...memberBox.options].some((option) => option.textContent.startsWith("● "));
  memberBox.parentElement.classList.toggle("unread", others);
  sessionStorage.setItem("seen", JSON.stringify({ epoch, seen: known.seen }));
}

async function follow(mine) {
  while (talk === mine && !mine.stop.signal.aborted) {
    const query = new URLSearchParams({ user: mine.user, after: mine.after });
    if (mine.epoch) {
      query.set("epoch", mine.epoch);
      query.set("newest", known.newest);
    } else query.set("wait", "0");
    try {
      const answer = await fetch(`state?${query}`, { signal: mine.stop.signal });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const rows = await answer.json();
      if (talk === mine) take(rows);
    } catch (error) {
      if (error.name === "AbortError") return;
      hint.textContent = "连接中断，正在重试…";
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  }
}

function memberName() {
  return known.members.find((member) => member.userid === talk.user)?.name ?? talk.user;
}

function choose(user) {
  talk = fresh(user);
  memberBox.value = user;
  hint.textContent = "";
  newer.hidden = true;
  chat.replaceChildren();
  sessionStorage.setItem("user", user);
  follow(talk);
}

async function start() {
  const { app, members } = await (await fetch("members")).json();
  const asked = new URLSearchParams(location.search).get("user");
  if (asked && !members.some((one) => one.userid === asked)) {
    members.push({ userid: asked, name: asked, title: "" });
  }
  known.members = members;
  Object.assign(known, JSON.parse(sessionStorage.getItem("seen") ?? "{}"));
  find("app").textContent = app;
  for (const { userid, name, title } of members) {
    const label = title ? `${name}（${title}）` : name;
    const option = new Option(label, userid);
    option.dataset.label = label;
    memberBox.add(option);
  }
  const last = sessionStorage.getItem("user");
  const wanted = asked ?? (members.some((one) => one.userid === last) ? last : members[0].userid);
  choose(wanted);
}

function grow() {
  input.rows = Math.min(5, input.value.split("\n").length + Math.floor(input.value.length / 24));
  send.disabled = !input.value.trim();
}

async function submit() {
  const text = input.value.trim();
  if (!text) return;
  input.value = "";
  grow();
  // A poll may find the message when it is "sent" already.
  talk.waiting = Date.now() + TYPING_MS;
  showTyping();
  if (!(await post("send", { user: talk.user, text, bot: channelBox.value === "bot" }).catch(() => false))) {
    input.value = text;
    grow();
    talk.waiting = 0;
    hint.textContent = "没有发出去，请重试";
  }
  input.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
input.addEventListener("input", grow);
input.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
memberBox.addEventListener("change", () => choose(memberBox.value));
let pinned = true;
newer.addEventListener("click", toEnd);
chat.addEventListener("scroll", () => {
  pinned = atEnd();
  if (pinned) newer.hidden = true;
});
new ResizeObserver(() => pinned && toEnd()).observe(chat);
setInterval(() => talk && showTyping(), 5000);
start();
