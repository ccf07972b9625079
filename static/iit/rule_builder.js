// The condition of a rule by mouse and keyboard: groups of conditions over the study's fields, in step with the
// JSON text below them. What the builder cannot show it says so and leaves alone.
window.iitRuleBuilder = (() => {
  const { FieldPicker, Told, make, post } = window.iitRuleParts;
  const { project } = window.iitSkill;
  const logic = window.iitRuleLogic;
  const DEEPEST = 4;
  const INPUTS = { number: "number", date: "date", datetime: "datetime-local", time: "time", text: "text" };
  const offers = new Map();

  // What may be offered for the chosen study, asked once; the box of the rule's own field has the same list.
  const offered = async () => {
    const key = project();
    if (!offers.has(key)) offers.set(key, post(document.getElementById("sop-editor").dataset.offer, { project: key }));
    const offer = await offers.get(key);
    if (!offer) offers.delete(key);
    const names = (offer?.fields ?? []).map((one) => make("option", { value: one.name, textContent: one.label }));
    document.getElementById("sop-fields").replaceChildren(...names);
    return offer;
  };

  class Builder {
    constructor({ rule, value, box, row, set }) {
      Object.assign(this, { rule, value, box, set });
      this.state = make("p", { className: "iit-muted", role: "status" });
      this.tree = make("div", {});
      this.folded = make("details", { className: "iit-folded", open: true }, make("summary", { textContent: row.firstChild.textContent }), row);
      this.element = make("div", { className: "rule-builder" }, this.state, this.tree, this.folded);
      this.tree.addEventListener("keydown", (event) => this.pressed(event));
      box.addEventListener("change", () => {
        if (box.validity.valid) this.open(box.value.trim() ? JSON.parse(box.value) : undefined);
      });
      this.load();
    }

    async load() {
      this.offer = await offered();
      const { texts } = this.offer ?? {};
      if (!texts) return;
      this.fields = new Map((this.offer.fields ?? []).map((field) => [field.name, field]));
      this.tree.role = "group";
      this.tree.ariaLabel = texts.title;
      this.folded.firstChild.textContent = texts.text;
      this.told = new Told(texts, () => ({ project: project(), rule: this.rule() }));
      this.element.append(this.told.element);
      this.element.parentNode?.addEventListener("input", () => this.told.soon());
      this.open(this.value);
    }

    open(value) {
      const { texts, fields, unread } = this.offer ?? {};
      this.value = value;
      this.top = null;
      if (!fields) {
        this.state.textContent = unread ? texts?.unread : texts?.no_study;
      } else {
        try {
          this.top = new logic.Reader(this.offer).read(value ?? true);
          this.state.textContent = "";
        } catch (error) {
          if (!(error instanceof logic.Unfit)) throw error;
          this.state.textContent = texts[error.message || "unfit"];
        }
      }
      this.folded.open = !this.top;
      this.render();
      this.told?.soon();
    }

    // After a change by hand: drawn anew with the focus where it was or goes on, then taken over.
    changed(key, said = "") {
      if (key) this.render(key);
      this.state.textContent = said;
      this.value = logic.write(this.top, this.fields);
      this.box.value = JSON.stringify(this.value);
      this.box.setCustomValidity("");
      this.set(this.value);
      this.told.soon(true);
    }

    edit(node, given, key) {
      Object.assign(node, given);
      logic.touch(node);
      this.changed(key);
      if (!key) this.hint(node);
    }

    render(key) {
      this.tree.replaceChildren(...(this.top ? [this.group(this.top, "", 1)] : []));
      if (key) (this.tree.querySelector(`[data-key="${key}"]`) ?? this.tree.querySelector("button, select")).focus();
    }

    pressed(event) {
      if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const { node: id } = event.target.closest("[data-node]")?.dataset ?? {};
      if (!event.altKey || !step || id === this.top.id) return;
      event.preventDefault();
      this.move(this.find(id), step, event.target.dataset.key);
    }

    find(id, among = this.top.items) {
      for (const one of among) {
        const found = one.id === id ? one : one.items && this.find(id, one.items);
        if (found) return found;
      }
      return null;
    }

    // --- add, remove, move ---------------------------------------------------------------------------

    add(parent, node, key) {
      node.parent = parent;
      parent.items.push(node);
      logic.touch(parent);
      this.changed(key);
    }

    remove(node) {
      const { parent } = node;
      const place = parent.items.indexOf(node);
      parent.items.splice(place, 1);
      logic.touch(parent);
      const next = parent.items[place] ?? parent.items[place - 1];
      this.changed(next ? `${next.id}:remove` : `${parent.id}:add`, this.offer.texts.removed);
    }

    // One step in the order that is read: past a neighbour, into a group that stands there, out of its own group.
    move(node, step, key) {
      const { parent } = node;
      const place = parent.items.indexOf(node);
      const next = parent.items[place + step];
      if (!next && !parent.parent) return;
      logic.touch(parent);
      parent.items.splice(place, 1);
      if (!next) {
        const outer = parent.parent;
        outer.items.splice(outer.items.indexOf(parent) + (step > 0 ? 1 : 0), 0, node);
        node.parent = outer;
      } else if (next.kind === "group" && this.depth(next) + this.height(node) <= DEEPEST) {
        next.items.splice(step > 0 ? 0 : next.items.length, 0, node);
        node.parent = next;
        logic.touch(next);
      } else {
        parent.items.splice(place + step, 0, node);
      }
      this.changed(key, this.offer.texts.moved);
    }

    depth(node) {
      return node.parent ? 1 + this.depth(node.parent) : 1;
    }

    height(node) {
      return node.items ? 1 + Math.max(0, ...node.items.map((one) => this.height(one))) : 0;
    }

    // --- drawing -------------------------------------------------------------------------------------

    button(text, key, action, label = "") {
      const made = make("button", { type: "button", className: "iit-chip", textContent: text });
      if (label) made.ariaLabel = label;
      made.dataset.key = key;
      made.addEventListener("click", action);
      return made;
    }

    select(options, value, label, key, change) {
      const made = make("select", { className: "iit-input", ariaLabel: label });
      for (const [one, text] of options) made.append(make("option", { value: one, textContent: text }));
      if (![...made.options].some((one) => one.value === value)) made.prepend(make("option", { value, textContent: value || "—" }));
      made.value = value;
      made.dataset.key = key;
      made.addEventListener("change", () => change(made.value));
      return made;
    }

    moves(node, name) {
      const { texts } = this.offer;
      const named = (text) => `${text}: ${name}`;
      return make(
        "span", { className: "rule-moves" },
        this.button("↑", `${node.id}:up`, () => this.move(node, -1, `${node.id}:up`), named(texts.up)),
        this.button("↓", `${node.id}:down`, () => this.move(node, 1, `${node.id}:down`), named(texts.down)),
        this.button("×", `${node.id}:remove`, () => this.remove(node), named(texts.remove)),
      );
    }

    group(node, number, depth) {
      const { texts } = this.offer;
      const name = number ? texts.group.replace("%s", number) : texts.title;
      const joints = [["and", texts.all], ["or", texts.any], ["!and", texts.not_all], ["!or", texts.not_any]];
      const joint = this.select(joints, (node.isNot ? "!" : "") + node.joint, `${texts.joint}: ${name}`, `${node.id}:joint`, (value) => {
        this.edit(node, { isNot: value.startsWith("!"), joint: value.replace("!", "") }, `${node.id}:joint`);
      });
      const items = node.items.map((item, place) => {
        const own = number ? `${number}.${place + 1}` : `${place + 1}`;
        return make("li", {}, item.kind === "group" ? this.group(item, own, depth + 1) : this.condition(item, own));
      });
      const rows = items.length ? make("ol", { className: "rule-items" }, ...items) : make("p", { className: "iit-muted", textContent: number ? texts.empty_group : texts.empty });
      const add = this.button(`+ ${texts.add}`, `${node.id}:add`, () => {
        const made = logic.condition();
        this.add(node, made, `${made.id}:field`);
      }, number ? `${texts.add}: ${name}` : "");
      const adds = make("p", { className: "rule-adds" }, add);
      if (depth < DEEPEST) {
        adds.append(this.button(`+ ${texts.add_group}`, `${node.id}:add_group`, () => {
          const made = logic.group(node.joint === "and" ? "or" : "and", false, []);
          this.add(node, made, `${made.id}:joint`);
        }, number ? `${texts.add_group}: ${name}` : ""));
      }
      const head = make("div", { className: "rule-head" }, joint, ...(number ? [this.moves(node, name)] : []));
      const made = make("div", { className: number ? "rule-group" : "rule-top", role: "group", ariaLabel: name }, head, rows, adds);
      made.dataset.node = node.id;
      return made;
    }

    condition(node, number) {
      const { texts, operators, kinds } = this.offer;
      const name = texts.condition.replace("%s", number);
      const kind = this.fields.get(node.field)?.kind;
      const picker = this.picker(node.field, `${texts.field}: ${name}`, `${node.id}:field`, (field) => this.choose(node, field));
      const parts = [picker, ...this.visit(node, "event", node.field, name)];
      if (kind) {
        const options = kinds[kind].map((one) => [one, operators[one]]);
        parts.push(this.select(options, node.op, `${texts.operator}: ${name}`, `${node.id}:op`, (op) => {
          const isListed = ["one_of", "none_of"].includes(op);
          const given = { op, by: op === "between" ? "value" : node.by };
          if (isListed && !node.codes.length && node.value) given.codes = [node.value];
          this.edit(node, given, `${node.id}:op`);
        }));
        if (logic.needsValue(node)) parts.push(...this.right(node, kind, name));
      }
      const hint = make("span", { className: "rule-hint", id: `${node.id}-hint` });
      const made = make("div", { className: "rule-condition", role: "group", ariaLabel: name }, ...parts, this.moves(node, name), hint);
      made.dataset.node = node.id;
      this.hint(node, hint, made);
      return made;
    }

    hint(node, hint = document.getElementById(`${node.id}-hint`), around = hint?.parentNode) {
      const { texts } = this.offer;
      if (!hint) return;
      hint.textContent = node.field ? (logic.isWhole(node) ? "" : texts.no_value) : texts.no_field;
      for (const box of around.querySelectorAll("[data-value]")) box.ariaInvalid = String(box.value === "");
    }

    picker(value, label, key, choose, fields = this.fields) {
      return new FieldPicker({ fields, texts: this.offer.texts, name: value, label, key, choose }).element;
    }

    events(field) {
      return this.offer.forms[this.fields.get(field)?.form]?.events ?? [];
    }

    // A field that stands at no visit of the rule's own field is asked for at one of its own.
    ownVisit(field) {
      const own = this.events(this.offer.aliases[this.rule().field] ?? this.rule().field);
      const events = this.events(field);
      return !own.length || !events.length || own.some((one) => events.includes(one)) ? "" : events[0];
    }

    choose(node, field) {
      const { kind } = this.fields.get(field);
      const isAlike = kind === this.fields.get(node.field)?.kind && kind !== "choice" && kind !== "ticks";
      const fresh = { op: this.offer.kinds[kind][0], by: "value", value: "", top: "", codes: [], other: "", otherEvent: "" };
      this.edit(node, { field, event: this.ownVisit(field), ...(isAlike ? {} : fresh) }, `${node.id}:op`);
    }

    visit(node, part, field, name) {
      const { texts, events } = this.offer;
      const held = this.events(field);
      if (!field || (!held.length && !node[part])) return [];
      const options = [["", texts.same_visit], ...events.filter(([one]) => held.includes(one))];
      const key = `${node.id}:${part}`;
      return [this.select(options, node[part], `${texts.visit}: ${name}`, key, (value) => this.edit(node, { [part]: value }, key))];
    }

    right(node, kind, name) {
      const { texts } = this.offer;
      const { choices } = this.fields.get(node.field);
      const label = `${texts.value}: ${name}`;
      if (["one_of", "none_of"].includes(node.op)) return [this.ticks(node, choices, label)];
      if (kind === "choice" || kind === "ticks") {
        const key = `${node.id}:value`;
        return [this.select([["", "—"], ...choices], node.value, label, key, (value) => this.edit(node, { value }, key))];
      }
      if (kind === "text") return [this.input(node, "value", kind, label)];
      if (node.op === "between") return [this.input(node, "value", kind, `${label} (1)`), make("span", { textContent: texts.to }), this.input(node, "top", kind, `${label} (2)`)];
      const ways = [["value", texts.value], ["field", texts.other], ...(kind.startsWith("date") ? [["today", texts.today]] : [])];
      const by = this.select(ways, node.by, `${texts.with}: ${name}`, `${node.id}:by`, (value) => this.edit(node, { by: value }, `${node.id}:by`));
      if (node.by === "today") return [by];
      if (node.by === "value") return [by, this.input(node, "value", kind, label)];
      const isDate = kind.startsWith("date");
      const fitting = new Map([...this.fields].filter(([one, field]) => one !== node.field && (isDate ? field.kind.startsWith("date") : field.kind === kind)));
      const other = this.picker(node.other, `${texts.other}: ${name}`, `${node.id}:other`, (field) => this.edit(node, { other: field, otherEvent: this.ownVisit(field) }, `${node.id}:other`), fitting);
      return [by, other, ...this.visit(node, "otherEvent", node.other, name)];
    }

    input(node, part, kind, label) {
      const isMoment = kind === "datetime";
      const value = isMoment ? node[part].replace(" ", "T") : node[part];
      const box = make("input", { type: INPUTS[kind], className: "iit-input", ariaLabel: label, value, autocomplete: "off" });
      if (kind === "number") box.step = "any";
      box.dataset.key = `${node.id}:${part}`;
      box.dataset.value = "1";
      box.setAttribute("aria-describedby", `${node.id}-hint`);
      box.addEventListener("input", () => this.edit(node, { [part]: isMoment ? box.value.replace("T", " ") : box.value.trim() }));
      return box;
    }

    ticks(node, choices, label) {
      const known = new Set(choices.map(([code]) => code));
      const all = [...choices, ...node.codes.filter((code) => !known.has(code)).map((code) => [code, code])];
      const rows = all.map(([code, text]) => {
        const box = make("input", { type: "checkbox", checked: node.codes.includes(code) });
        box.dataset.key = `${node.id}:code:${code}`;
        box.addEventListener("change", () => {
          const codes = all.map(([one]) => one).filter((one) => (one === code ? box.checked : node.codes.includes(one)));
          this.edit(node, { codes });
        });
        return make("label", {}, box, ` ${text}`);
      });
      return make("span", { className: "rule-codes", role: "group", ariaLabel: label }, ...rows);
    }
  }

  return Object.assign((given) => new Builder(given).element, { offered });
})();
