// Texts as WeCom shows them, built from text nodes only: nothing a message holds becomes markup.

const LINK = /<a\s+href=["']([^"']+)["'][^>]*>([\s\S]*?)<\/a>|(https?:\/\/[^\s<>"'，。；、）]+)/gi;
const INLINE =
  /\*\*(.+?)\*\*|`([^`\n]+)`|\[([^\]\n]+)\]\(([^)\s]+)\)|<font color=["'](info|comment|warning)["']>(.*?)<\/font>/g;

export function element(name, className = "", ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

export function safeLink(address, label, className = "") {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    return document.createTextNode(label);
  }
  if (!["http:", "https:"].includes(url.protocol)) return document.createTextNode(label);
  const link = element("a", className, label);
  link.href = url.href;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  return link;
}

function pieces(text, pattern, build) {
  const found = document.createDocumentFragment();
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    found.append(emoji(text.slice(last, match.index)), build(match));
    last = match.index + match[0].length;
  }
  found.append(emoji(text.slice(last)));
  return found;
}

/** The three emoji the assistant uses, drawn where the machine has no font for them. */
const EMOJI = { "🫡": "salute", "👍": "up", "👎": "down" };
export function emoji(text) {
  const parts = document.createDocumentFragment();
  for (const part of text.split(/(🫡|👍|👎)/u)) {
    parts.append(part in EMOJI ? element("span", `emoji ${EMOJI[part]}`, part) : part);
  }
  return parts;
}

/** A text message: line breaks and <a>, nothing else. */
export function plain(text) {
  return pieces(text, LINK, ([, href, label, bare]) => safeLink(href ?? bare, label ?? bare));
}

function inline(text) {
  return pieces(text, INLINE, ([, bold, code, label, href, color, colored]) => {
    if (bold !== undefined) return element("strong", "", inline(bold));
    if (code !== undefined) return element("code", "", code);
    if (label !== undefined) return safeLink(href, label);
    return element("span", `font-${color}`, inline(colored));
  });
}

/** The markdown subset of message/send: headings, bold, links, inline code, quotes, font. */
export function markdown(text) {
  const block = document.createDocumentFragment();
  for (const line of text.split("\n")) {
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const quote = /^>\s?(.*)$/.exec(line);
    if (heading) block.append(element("div", `heading h${heading[1].length}`, inline(heading[2])));
    else if (quote) block.append(element("blockquote", "", inline(quote[1])));
    else block.append(element("div", "line", line ? inline(line) : "\u00a0"));
  }
  return block;
}

export function clock(seconds) {
  const then = new Date(seconds * 1000);
  const today = new Date();
  const time = then.toLocaleTimeString("zh-CN", { hour: "2-digit", minute: "2-digit", hour12: false });
  if (then.toDateString() === today.toDateString()) return time;
  return `${then.getMonth() + 1}月${then.getDate()}日 ${time}`;
}
