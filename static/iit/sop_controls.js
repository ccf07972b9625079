// Controls of the graph editor for a value as its schema has it; `set(value)` takes over, undefined leaves it out.
// A name tells the place in a node or a workflow: prohibited.names, sae_report.reports.field.
window.iitSopControls = (() => {
  const { make } = window.iitRuleParts;
  const LONG = ["description", "instruction", "message"];

  const isText = (value) => typeof value === "string";
  const isObject = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);

  class Controls {
    constructor(outline) {
      this.outline = outline;
      this.count = 0;
      this.place = "";
      this.unticked = new Map();
    }

    resolved(schema) {
      const one = (schema.anyOf ?? []).find((each) => each.type !== "null") ?? schema;
      return one.$ref ? this.resolved(this.outline.schema.$defs[one.$ref.split("/").pop()]) : one;
    }

    label(name) {
      const last = name.split(".").pop();
      return this.outline.labels[name] ?? this.outline.labels[last] ?? last;
    }

    row(name, control) {
      control.id ||= `sop-${++this.count}`;
      control.name = "";
      control.dataset.name = name;
      return make("p", { className: "sop-row" }, make("label", { htmlFor: control.id, textContent: this.label(name) }), control);
    }

    of(name, given, value, set, around) {
      const schema = this.resolved(given);
      if (value !== undefined && value !== null && !this.fits(schema, value)) return this.free(name, value, set, around);
      if (schema.enum) return this.row(name, this.choice(name, schema.enum, value, set));
      if (schema.type === "array") return this.list(name, schema, value ?? [], set);
      if (schema.type === "object") return this.object(name, schema, value ?? {}, set);
      if (schema.type === "boolean") return this.flag(name, schema, value, set);
      if (schema.type === "number" || schema.type === "integer") {
        const box = make("input", { type: "number", className: "iit-input", value: value ?? "", step: schema.type === "integer" ? "1" : "any" });
        box.addEventListener("input", () => {
          if (!box.validity.badInput) set(box.value === "" ? undefined : Number(box.value));
        });
        return this.row(name, box);
      }
      if (schema.type === "string") return this.row(name, this.text(schema, value, set, LONG.includes(name)));
      return this.free(name, value, set, around);
    }

    // Whether the control of a schema can show a value: a draft may hold anything.
    fits(schema, value) {
      const each = this.resolved(schema.items ?? schema.additionalProperties ?? {});
      if (schema.type === "array") return Array.isArray(value) && (each.type !== "string" || value.every(isText));
      if (schema.type === "object") return isObject(value) && (each.type !== "array" || Object.values(value).every((one) => this.fits(each, one)));
      return schema.type !== "string" || isText(value);
    }

    text(schema, value, set, isLong = false) {
      const box = make(isLong ? "textarea" : "input", { className: "iit-input", value: value ?? "" });
      if (schema.format === "field") {
        box.setAttribute("list", "sop-fields");
        box.addEventListener("focus", () => window.iitRuleBuilder.offered());
      }
      box.addEventListener("input", () => set(box.value === "" ? undefined : box.value));
      return box;
    }

    flag(name, schema, value, set) {
      const box = make("input", { type: "checkbox", checked: value ?? schema.default ?? false });
      box.addEventListener("change", () => set(box.checked === Boolean(schema.default) ? undefined : box.checked));
      return this.row(name, box);
    }

    choice(name, values, value, set) {
      const box = make("select", { className: "iit-input" }, make("option", { value: "", textContent: "—" }));
      for (const one of values) box.append(make("option", { value: one, textContent: this.word(name, one) }));
      box.value = value ?? "";
      box.addEventListener("change", () => set(box.value || undefined));
      return box;
    }

    word(name, one) {
      return this.outline.entries[name]?.[one] ?? one;
    }

    group(className, title, ...inner) {
      return make("fieldset", { className }, make("legend", { textContent: title }), ...inner);
    }

    tick(name, one, isTicked, change) {
      const box = make("input", { type: "checkbox", checked: isTicked });
      box.addEventListener("change", () => change(box.checked));
      return make("label", {}, box, ` ${this.word(name, one)}`);
    }

    button(text, action) {
      const made = make("button", { type: "button", className: "iit-chip", textContent: text });
      made.addEventListener("click", action);
      return made;
    }

    list(name, schema, value, set) {
      const items = this.resolved(schema.items);
      if (items.enum) {
        const changed = (one, on) => {
          const next = on ? [...value, one] : value.filter((other) => other !== one);
          set(next.length ? next : undefined);
        };
        const all = [...new Set([...items.enum, ...value])];
        return this.group("sop-ticks", this.label(name), ...all.map((one) => this.tick(name, one, value.includes(one), (on) => changed(one, on))));
      }
      if (items.type === "string") return this.row(name, this.lines(value, set));
      if (!items.properties) return this.free(name, value.length ? value : undefined, set);
      const made = this.group("sop-items", this.label(name));
      value.forEach((item, at) => {
        const put = (next) => {
          value = value.with(at, next ?? {});
          set(value);
        };
        const one = this.form("", `${this.label(name)} ${at + 1}`, items, item, put);
        one.append(this.button(this.outline.texts.remove, () => set(value.length > 1 ? value.toSpliced(at, 1) : undefined)));
        made.append(one);
      });
      made.append(this.button(`+ ${this.outline.texts.add}`, () => set([...value, { field: "", logic: true, message: "" }])));
      return made;
    }

    // Several texts, one a line.
    lines(value, set) {
      const box = make("textarea", { className: "iit-input", value: value.join("\n"), placeholder: this.outline.texts.lines });
      box.addEventListener("input", () => {
        const next = box.value.split("\n").map((one) => one.trim()).filter(Boolean);
        set(next.length ? next : undefined);
      });
      return box;
    }

    object(name, schema, value, set) {
      const named = schema.propertyNames?.enum?.map((one) => [one, schema.additionalProperties]);
      const shapes = named ?? Object.entries(schema.properties ?? {});
      if (shapes.length && shapes.every(([, one]) => this.resolved(one).type === "object")) return this.choices(name, shapes, value, set);
      if (shapes.length) return this.form("", this.label(name), schema, value, set);
      if (schema.additionalProperties?.type === "array") return this.entries(name, value, set);
      return this.free(name, Object.keys(value).length ? value : undefined, set);
    }

    // Which of several objects there are, and below each that is ticked what it says. What was unticked comes back.
    choices(name, shapes, value, set) {
      const changed = (one, next) => {
        const { [one]: old, ...rest } = value;
        value = next === undefined ? rest : { ...value, [one]: next };
        set(Object.keys(value).length ? value : undefined);
      };
      const parts = shapes.flatMap(([one, shape]) => {
        const place = [this.place, name, one].join("\n");
        const ticked = this.tick(name, one, one in value, (on) => {
          if (!on) this.unticked.set(place, value[one]);
          changed(one, on ? this.unticked.get(place) ?? {} : undefined);
        });
        const own = this.resolved(shape);
        if (!(one in value) || !own.properties) return [ticked];
        const prefix = name === "checks" ? `${one}.` : `${name}.`;
        return [ticked, this.form(prefix, this.word(name, one), own, value[one], (next) => changed(one, next ?? {}))];
      });
      return this.group("sop-ticks", this.label(name), ...parts);
    }

    // A control for each attribute of an object; one box for what is none.
    form(prefix, title, schema, value, set) {
      if (!isObject(value)) return this.free(title, value, set);
      const changed = (one, next) => {
        const { [one]: old, ...rest } = value;
        value = next === undefined ? rest : { ...value, [one]: next };
        set(Object.keys(value).length ? value : undefined);
      };
      const rows = Object.entries(schema.properties).map(([one, shape]) => this.of(`${prefix}${one}`, shape, value[one], (next) => changed(one, next), () => value));
      return this.group("sop-items", title, ...rows);
    }

    // Texts of each of several fields.
    entries(name, value, set) {
      const all = Object.entries(value);
      const put = () => set(all.length ? Object.fromEntries(all) : undefined);
      const change = (at, place, next) => {
        all[at][place] = next;
        put();
      };
      const parts = all.map(([field, texts], at) => {
        // Of two of one name the later would take the place of the other.
        const box = this.text({ format: "field" }, field, (next = "") => {
          const isTaken = all.some(([other], place) => place !== at && other === next);
          box.setCustomValidity(isTaken ? this.outline.texts.taken : "");
          if (!isTaken) change(at, 0, next);
        });
        box.addEventListener("change", () => box.reportValidity());
        const key = this.row("field", box);
        const lines = this.row(name, this.lines(texts, (next) => change(at, 1, next ?? [])));
        const remove = this.button(this.outline.texts.remove, () => {
          all.splice(at, 1);
          put();
        });
        return this.group("sop-items", `${this.label(name)} ${at + 1}`, key, lines, remove);
      });
      const add = this.button(`+ ${this.outline.texts.add}`, () => {
        if (all.every(([field]) => field)) all.push(["", []]);
        put();
      });
      return this.group("sop-items", this.label(name), ...parts, add);
    }

    // Any JSON; a condition of a rule has its builder.
    free(name, value, set, around) {
      const box = make("textarea", { className: "iit-input iit-code", spellcheck: false, value: value === undefined ? "" : JSON.stringify(value) });
      box.addEventListener("change", () => {
        let next;
        try {
          next = box.value.trim() ? JSON.parse(box.value) : undefined;
          box.setCustomValidity("");
        } catch {
          box.setCustomValidity(this.outline.texts.json);
          box.reportValidity();
          return;
        }
        set(next);
      });
      const row = this.row(name, box);
      return name === "logic" && around ? window.iitRuleBuilder({ rule: around, value, box, row, set }) : row;
    }
  }

  return { Controls };
})();
