// Two parts of the rule builder: a box that finds a field by part of its label or name, and the rule told back by
// the server, with its smallest examples.
window.iitRuleParts = (() => {
  const MOST_SHOWN = 50;
  const PAUSE_MS = 400;
  const MOST_KEPT = 200;
  const answers = new Map();
  let count = 0;

  const make = (tag, given = {}, ...inner) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inner);
    return made;
  };

  const post = async (address, body) => {
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const headers = { "X-CSRFToken": token, "Content-Type": "application/json" };
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => null);
    return answer && !answer.redirected && [200, 400].includes(answer.status) ? answer.json() : null;
  };

  // The combobox of WAI-ARIA: arrows, Enter, Escape; what is left without a choice goes back to what was chosen.
  class FieldPicker {
    constructor({ fields, texts, name, label, key, choose }) {
      Object.assign(this, { fields, texts, name, choose, shown: [], at: -1 });
      this.list = make("ul", { className: "rule-options", id: `rule-list-${++count}`, hidden: true, role: "listbox", ariaLabel: texts.field });
      this.box = make("input", {
        className: "iit-input", role: "combobox", ariaLabel: label, ariaExpanded: "false", ariaAutoComplete: "list", autocomplete: "off",
        placeholder: texts.find, value: this.told(name), spellcheck: false,
      });
      this.box.dataset.key = key;
      this.box.setAttribute("aria-controls", this.list.id);
      this.said = make("span", { className: "sr-only", role: "status" });
      this.element = make("span", { className: "rule-pick" }, this.box, this.list, this.said);
      this.box.addEventListener("focus", () => this.box.select());
      this.box.addEventListener("input", () => this.open(this.box.value));
      this.box.addEventListener("click", () => this.open(""));
      this.box.addEventListener("blur", () => this.close());
      this.box.addEventListener("keydown", (event) => this.pressed(event));
      this.list.addEventListener("mousedown", (event) => {
        event.preventDefault();
        const option = event.target.closest("[data-name]");
        if (option) this.take(option.dataset.name);
      });
    }

    told(name) {
      const field = this.fields.get(name);
      return field ? `${field.label} (${name})` : name;
    }

    open(typed) {
      const part = typed.trim().toLowerCase();
      const found = [...this.fields.values()].filter((one) => `${one.label}\n${one.name}`.toLowerCase().includes(part));
      this.shown = found.slice(0, MOST_SHOWN);
      this.at = part && this.shown.length ? 0 : -1;
      const rows = this.shown.map((one, place) => {
        const row = make("li", { role: "option", id: `${this.list.id}-${place}` }, make("strong", { textContent: one.label }), ` ${one.name}`);
        row.dataset.name = one.name;
        return row;
      });
      const left = found.length - this.shown.length;
      if (left) rows.push(make("li", { className: "iit-muted", role: "presentation", textContent: this.texts.more.replace("%s", left) }));
      if (!found.length) rows.push(make("li", { className: "iit-muted", role: "presentation", textContent: this.texts.nothing }));
      this.list.replaceChildren(...rows);
      this.list.hidden = false;
      this.box.ariaExpanded = "true";
      this.said.textContent = found.length ? this.texts.found.replace("%s", found.length) : this.texts.nothing;
      this.mark();
    }

    mark() {
      this.shown.forEach((one, place) => { this.list.children[place].ariaSelected = String(place === this.at); });
      const here = this.list.children[this.at];
      if (here && this.at >= 0) {
        this.box.setAttribute("aria-activedescendant", here.id);
        here.scrollIntoView({ block: "nearest" });
      } else {
        this.box.removeAttribute("aria-activedescendant");
      }
    }

    close() {
      this.list.hidden = true;
      this.box.ariaExpanded = "false";
      this.box.removeAttribute("aria-activedescendant");
      this.box.value = this.told(this.name);
    }

    pressed(event) {
      const isOpen = !this.list.hidden;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.altKey) return;
      if (step) {
        event.preventDefault();
        if (!isOpen) this.open("");
        if (this.shown.length) this.at = (this.at + step + this.shown.length + (this.at < 0 && step < 0 ? 1 : 0)) % this.shown.length;
        this.mark();
      } else if (event.key === "Enter" && isOpen) {
        event.preventDefault();
        if (this.at >= 0) this.take(this.shown[this.at].name);
      } else if (event.key === "Escape" && isOpen) {
        event.preventDefault();
        this.close();
      }
    }

    take(name) {
      this.name = name;
      this.close();
      this.choose(name);
    }
  }

  // What the server says of the rule; asked when it is in sight, and when it was changed.
  class Told {
    constructor(texts, body) {
      Object.assign(this, { texts, body, asked: "", timer: 0 });
      this.element = make("div", { className: "rule-told", ariaLive: "polite" });
      new IntersectionObserver((seen) => {
        this.isSeen = seen.at(-1).isIntersecting;
        if (this.isSeen) this.soon();
      }).observe(this.element);
    }

    soon(isChanged = false) {
      clearTimeout(this.timer);
      if (this.isSeen || isChanged) this.timer = setTimeout(() => this.ask(), PAUSE_MS);
    }

    async ask() {
      const body = this.body();
      const key = JSON.stringify(body);
      if (!body.project || key === this.asked) return;
      this.asked = key;
      this.element.classList.add("is-stale");
      if (!answers.has(key)) {
        const answer = await post(document.getElementById("sop-editor").dataset.rule, body);
        if (answers.size >= MOST_KEPT) answers.clear();
        if (answer) answers.set(key, answer);
      }
      if (key !== this.asked) return;
      this.element.classList.remove("is-stale");
      this.show(answers.get(key) ?? { problem: this.texts.failed });
      if (!answers.has(key)) this.asked = "";
    }

    show({ problem, problems = [], words, table, notes = [] }) {
      const wrong = [...(problem ? [{ message: problem }] : []), ...problems];
      const parts = wrong.map((one) => make("li", { className: one.is_hint ? "iit-warning" : "iit-error", textContent: one.message }));
      const shown = parts.length ? [make("ul", { className: "iit-problems" }, ...parts)] : [];
      if (words) shown.push(make("p", { className: "rule-words" }, make("strong", { textContent: this.texts.reads }), ` ${words}`));
      if (table?.rows.length) shown.push(this.table(table));
      shown.push(...notes.map((note) => make("p", { className: "iit-muted", textContent: note })));
      this.element.replaceChildren(...shown);
    }

    table({ kinds, rows }) {
      const marks = { PASS: "success", FAIL: "danger", UNKNOWN: "warning" };
      const head = kinds.map((one) => {
        const cell = make("th", { scope: "col" }, make("span", { className: `iit-dot ${marks[one.kind]}` }), one.label);
        cell.dataset.kind = one.kind;
        return cell;
      });
      const lines = rows.map((row) => {
        const where = row.event ? ` · ${row.event}` : "";
        const name = make("th", { scope: "row" }, row.label, make("span", { className: "iit-muted", textContent: ` ${row.name}${where}` }));
        const cells = row.cells.map((cell) => make("td", cell === null ? { className: "iit-muted", textContent: this.texts.any_value } : { textContent: cell }));
        return make("tr", {}, name, ...cells);
      });
      const table = make(
        "table", { className: "rule-examples" }, make("caption", { textContent: this.texts.examples }),
        make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: this.texts.field }), ...head)), make("tbody", {}, ...lines),
      );
      return make("div", { className: "rule-scroll", tabIndex: 0, role: "group", ariaLabel: this.texts.examples }, table);
    }
  }

  return { FieldPicker, Told, make, post };
})();
