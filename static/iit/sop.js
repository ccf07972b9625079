// The graph editor of a workflow: drawing, forms and list of the same configuration, in step with the JSON text. The
// server says what a node takes (data-outline) and what is wrong (the check below the text); nothing is stored here.
(() => {
  const make = (tag, given = {}, ...inner) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inner);
    return made;
  };
  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const isWorkflow = (config) => Boolean(config) && typeof config === "object" && Boolean(config.nodes) &&
    typeof config.nodes === "object" && Object.values(config.nodes).every((node) => node && typeof node === "object");
  const INK = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  // A colour of the theme as the drawing takes it.
  const colour = (name) => {
    INK.fillStyle = getComputedStyle(document.body).getPropertyValue(name) || "#888";
    INK.fillRect(0, 0, 1, 1);
    const [r, g, b] = INK.getImageData(0, 0, 1, 1).data;
    return `rgb(${r},${g},${b})`;
  };

  const style = () => [
    {
      selector: "node",
      style: {
        shape: "round-rectangle", width: 150, height: 50, label: "data(label)", "text-wrap": "wrap", "text-max-width": 138,
        "text-valign": "center", "text-halign": "center", "font-size": 12, color: colour("--iit-strong"),
        "background-color": colour("--iit-soft"), "border-width": 1, "border-color": colour("--iit-mute"),
      },
    },
    { selector: "node.is-end", style: { height: 34, "background-color": colour("--iit-card"), "border-style": "dashed" } },
    { selector: "node.is-start", style: { "border-width": 3, "border-color": colour("--iit-info") } },
    { selector: "node.is-bad", style: { "border-width": 3, "border-color": colour("--iit-bad") } },
    { selector: "node.is-here", style: { "background-color": colour("--iit-line"), "border-width": 3 } },
    {
      selector: "edge",
      style: {
        width: 1.5, label: "data(label)", "font-size": 11, "curve-style": "bezier", "target-arrow-shape": "triangle",
        color: colour("--iit-text"), "line-color": colour("--iit-mute"), "target-arrow-color": colour("--iit-mute"),
        "text-background-color": colour("--iit-card"), "text-background-opacity": 1, "text-background-padding": 2,
      },
    },
  ];

  // Controls for a value as its schema has it; `set(value)` takes over, undefined leaves it out.
  class Controls {
    constructor(outline) {
      this.outline = outline;
      this.count = 0;
    }

    resolved(schema) {
      const one = (schema.anyOf ?? []).find((each) => each.type !== "null") ?? schema;
      return one.$ref ? this.resolved(this.outline.schema.$defs[one.$ref.split("/").pop()]) : one;
    }

    label(name) {
      return this.outline.labels[name] ?? name;
    }

    row(name, control) {
      control.id ||= `sop-${++this.count}`;
      control.name = "";
      control.dataset.name = name;
      return make("p", { className: "sop-row" }, make("label", { htmlFor: control.id, textContent: this.label(name) }), control);
    }

    of(name, given, value, set, around) {
      const schema = this.resolved(given);
      if (schema.enum) return this.row(name, this.choice(schema.enum, value, set));
      if (schema.type === "array") return this.list(name, schema, value ?? [], set);
      if (schema.type === "object" && schema.properties) return this.object(name, schema, value ?? {}, set);
      if (schema.type === "number" || schema.type === "integer") {
        const box = make("input", { type: "number", className: "iit-input", value: value ?? "", step: schema.type === "integer" ? "1" : "any" });
        box.addEventListener("input", () => set(box.value === "" ? undefined : Number(box.value)));
        return this.row(name, box);
      }
      if (schema.type === "string") {
        const isLong = ["description", "instruction", "message"].includes(name);
        const box = make(isLong ? "textarea" : "input", { className: "iit-input", value: value ?? "" });
        if (name === "field") box.setAttribute("list", "sop-fields");
        box.addEventListener("input", () => set(box.value === "" ? undefined : box.value));
        return this.row(name, box);
      }
      return this.free(name, value, set, around);
    }

    choice(values, value, set) {
      const box = make("select", { className: "iit-input" }, make("option", { value: "", textContent: "—" }));
      for (const one of values) box.append(make("option", { value: one, textContent: one }));
      box.value = value ?? "";
      box.addEventListener("change", () => set(box.value || undefined));
      return box;
    }

    ticks(name, values, isTicked, change) {
      const made = make("fieldset", { className: "sop-ticks" }, make("legend", { textContent: this.label(name) }));
      for (const one of values) {
        const box = make("input", { type: "checkbox", checked: isTicked(one) });
        box.addEventListener("change", () => change(one, box.checked));
        made.append(make("label", {}, box, ` ${one}`));
      }
      return made;
    }

    list(name, schema, value, set) {
      const items = this.resolved(schema.items);
      if (items.enum) {
        const changed = (one, on) => {
          const next = on ? [...value, one] : value.filter((other) => other !== one);
          set(next.length ? next : undefined);
        };
        return this.ticks(name, items.enum, (one) => value.includes(one), changed);
      }
      if (!items.properties) return this.free(name, value.length ? value : undefined, set);
      const made = make("fieldset", { className: "sop-items" }, make("legend", { textContent: this.label(name) }));
      value.forEach((item, at) => {
        const put = (next) => {
          value = value.with(at, next ?? {});
          set(value);
        };
        const one = this.object(`${this.label(name)} ${at + 1}`, items, item, put);
        const remove = make("button", { type: "button", className: "iit-chip", textContent: this.outline.texts.remove });
        remove.addEventListener("click", () => set(value.length > 1 ? value.toSpliced(at, 1) : undefined));
        one.append(remove);
        made.append(one);
      });
      const add = make("button", { type: "button", className: "iit-chip", textContent: `+ ${this.outline.texts.add}` });
      add.addEventListener("click", () => set([...value, { field: "", logic: true, message: "" }]));
      made.append(add);
      return made;
    }

    object(name, schema, value, set) {
      const changed = (one, next) => {
        const { [one]: old, ...rest } = value;
        value = next === undefined ? rest : { ...value, [one]: next };
        set(Object.keys(value).length ? value : undefined);
      };
      const shapes = Object.entries(schema.properties);
      if (shapes.every(([, one]) => this.resolved(one).type === "object")) {
        return this.ticks(name, shapes.map(([one]) => one), (one) => one in value, (one, on) => changed(one, on ? {} : undefined));
      }
      const made = make("fieldset", { className: "sop-items" }, make("legend", { textContent: this.label(name) }));
      for (const [one, shape] of shapes) made.append(this.of(one, shape, value[one], (next) => changed(one, next), () => value));
      return made;
    }

    // Any JSON; a condition of a rule can be put together from field, operator and value.
    free(name, value, set, around) {
      const box = make("textarea", { className: "iit-input iit-code", spellcheck: false, value: value === undefined ? "" : JSON.stringify(value) });
      box.addEventListener("change", () => {
        const next = box.value.trim() ? parsed(box.value) : undefined;
        const isBad = box.value.trim() !== "" && next === undefined;
        box.setCustomValidity(isBad ? this.outline.texts.json : "");
        if (isBad) box.reportValidity();
        else set(next);
      });
      const row = this.row(name, box);
      if (name === "logic" && around) row.prepend(this.builder(around, set));
      return row;
    }

    builder(rule, set) {
      const texts = this.outline.texts;
      const sign = make("select", { className: "iit-input", ariaLabel: texts.operator });
      for (const one of [">=", "<=", ">", "<", "==", "!="]) sign.append(make("option", { value: one, textContent: one }));
      const value = make("input", { className: "iit-input", ariaLabel: texts.value });
      const take = make("button", { type: "button", className: "iit-chip", textContent: texts.build });
      take.addEventListener("click", () => {
        const typed = value.value.trim();
        set({ [sign.value]: [{ var: rule().field }, typed !== "" && Number.isFinite(Number(typed)) ? Number(typed) : typed] });
      });
      return make("span", { className: "sop-builder" }, sign, value, take);
    }
  }

  class Editor {
    constructor(root, box) {
      this.root = root;
      this.box = box;
      this.outline = JSON.parse(root.dataset.outline);
      this.controls = new Controls(this.outline);
      this.part = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((one) => [one.dataset.part, one]));
      this.past = [];
      this.coming = [];
      this.moved = {};
      this.here = "";
      this.picking = "";
      this.text = box.value;
      this.config = parsed(this.text);
      root.hidden = false;
      this.drawn = cytoscape({ container: this.part.canvas, style: style(), minZoom: 0.3, maxZoom: 1.5 });
      this.listen();
      this.show();
    }

    listen() {
      this.drawn.on("tap", "node", (event) => this.tapped(event.target.id()));
      this.drawn.on("dragfree", "node", (event) => { this.moved[event.target.id()] = { ...event.target.position() }; });
      this.root.addEventListener("click", (event) => {
        const { add, do: what } = event.target.closest("[data-add],[data-do]")?.dataset ?? {};
        if (add) this.add(add);
        if (what) this[what]();
      });
      this.root.addEventListener("input", (event) => event.stopPropagation());
      this.box.addEventListener("input", () => {
        if (this.box.value === this.text) return;
        this.past.push(this.text);
        this.coming = [];
        this.take(this.box.value);
      });
      new MutationObserver(() => this.drawn.style(style())).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
      document.addEventListener("iit:checked", () => this.marks());
    }

    tapped(key) {
      if (this.picking) {
        const edge = this.picking;
        this.picking = "";
        this.edit((config) => { config.nodes[this.here][edge] = key; });
      } else if (this.config.nodes[key]) {
        this.choose(key);
      }
    }

    // One step of editing: kept for undo, written as text, checked by the server.
    edit(change) {
      if (!isWorkflow(this.config)) return;
      const next = structuredClone(this.config);
      change(next);
      const typed = document.activeElement;
      // A box in which somebody types stays; its typing is one step.
      this.keeps = this.part.form.contains(typed) && typed.matches("textarea, input:not([type=checkbox])");
      if (!this.keeps || this.typed !== typed) this.past.push(this.text);
      this.typed = typed;
      this.coming = [];
      this.write(JSON.stringify(next, null, 2));
      this.keeps = false;
    }

    write(text) {
      this.take(text);
      this.box.value = text;
      this.box.dispatchEvent(new Event("input", { bubbles: true }));
    }

    take(text) {
      this.text = text;
      this.config = parsed(text);
      this.show();
    }

    undo() {
      if (!this.past.length) return;
      this.coming.push(this.text);
      this.write(this.past.pop());
    }

    redo() {
      if (!this.coming.length) return;
      this.past.push(this.text);
      this.write(this.coming.pop());
    }

    arrange() {
      this.moved = {};
      this.show();
    }

    add(kind) {
      let number = 1;
      while (this.config?.nodes?.[`${kind}_${number}`]) number += 1;
      const key = `${kind}_${number}`;
      this.here = key;
      this.edit((config) => { config.nodes[key] = { type: kind }; });
    }

    remove(key) {
      this.here = "";
      this.edit((config) => {
        delete config.nodes[key];
        for (const node of Object.values(config.nodes)) {
          for (const edge of this.edgesOf(node)) if (node[edge] === key) delete node[edge];
        }
        if (config.start_node === key) config.start_node = Object.keys(config.nodes)[0] ?? "";
      });
    }

    rename(key, name) {
      if (!name || this.config.nodes[name]) return this.form();
      this.here = name;
      this.edit((config) => {
        config.nodes = Object.fromEntries(Object.entries(config.nodes).map(([one, node]) => [one === key ? name : one, node]));
        for (const node of Object.values(config.nodes)) {
          for (const edge of this.edgesOf(node)) if (node[edge] === key) node[edge] = name;
        }
        if (config.start_node === key) config.start_node = name;
      });
      return this.form();
    }

    edgesOf(node) {
      return this.outline.kinds[node.type]?.edges ?? [];
    }

    nameOf(key) {
      const node = this.config.nodes[key];
      if (!node) return this.outline.ends[key] ?? key;
      return node.description || this.outline.kinds[node.type]?.label || key;
    }

    choose(key) {
      this.here = key;
      this.picking = "";
      this.form();
      this.marks();
    }

    show() {
      const isFine = isWorkflow(this.config);
      this.part.told.textContent = isFine ? "" : this.outline.texts.broken;
      if (!isFine) return;
      this.draw();
      if (!this.keeps) this.form();
      this.list();
      this.marks();
    }

    draw() {
      const { nodes } = this.config;
      const elements = new Map();
      const box = (key) => {
        const label = this.nameOf(key);
        elements.set(key, { data: { id: key, label: label.length > 20 ? `${label.slice(0, 19)}…` : label }, classes: nodes[key] ? "" : "is-end" });
      };
      for (const key of Object.keys(nodes)) box(key);
      const lines = [];
      for (const [key, node] of Object.entries(nodes)) {
        for (const edge of this.edgesOf(node)) {
          const target = node[edge] || this.outline.defaults[edge];
          if (edge === "on_error" && !node[edge]) continue;
          if (!elements.has(target)) box(target);
          lines.push({ data: { id: `${key} ${edge}`, source: key, target, label: this.outline.edges[edge] } });
        }
      }
      this.drawn.elements().remove();
      this.drawn.add([...elements.values(), ...lines]);
      this.drawn.layout({ name: "dagre", rankDir: "TB", nodeSep: 30, rankSep: 55, animate: false, fit: true, padding: 15 }).run();
      for (const [key, place] of Object.entries(this.moved)) this.drawn.getElementById(key).position(place);
    }

    marks() {
      const bad = new Set([...document.querySelectorAll("#skill-check li.iit-error[data-node]")].map((one) => one.dataset.node));
      this.drawn.nodes().forEach((node) => {
        node.toggleClass("is-bad", bad.has(node.id()));
        node.toggleClass("is-here", node.id() === this.here);
        node.toggleClass("is-start", node.id() === this.config?.start_node);
      });
      this.part.form.querySelector("[data-errors]")?.replaceChildren(...this.errors());
      for (const row of this.part.list.children) row.classList.toggle("is-bad", bad.has(row.dataset.key));
    }

    errors() {
      const said = [...document.querySelectorAll("#skill-check li[data-node]")].filter((one) => one.dataset.node === this.here);
      return said.map((one) => make("li", { className: one.className, textContent: one.dataset.message }));
    }

    button(text, action) {
      const made = make("button", { type: "button", className: "iit-chip", textContent: text });
      made.addEventListener("click", action);
      return made;
    }

    form() {
      const { texts, kinds, schema } = this.outline;
      const key = this.here;
      const node = this.config?.nodes?.[key];
      if (!node) return this.part.form.replaceChildren(make("p", { className: "iit-muted", textContent: texts.none }));
      const kind = kinds[node.type];
      const errors = make("ul", { className: "iit-problems" });
      errors.dataset.errors = "1";
      const name = make("input", { className: "iit-input", value: key });
      name.addEventListener("change", () => this.rename(key, name.value.trim()));
      const rows = [make("h3", { textContent: kind?.label ?? node.type }), errors, this.controls.row(texts.key, name)];
      const shapes = schema.$defs[node.type]?.properties ?? {};
      for (const one of kind?.names ?? []) {
        const set = (value) => this.edit((config) => {
          if (value === undefined) delete config.nodes[key][one];
          else config.nodes[key][one] = value;
        });
        rows.push(this.controls.of(one, shapes[one], node[one], set));
      }
      rows.push(...(kind?.edges ?? []).map((edge) => this.target(key, node, edge)));
      rows.push(this.button(texts.make_start, () => this.edit((config) => { config.start_node = key; })), " ");
      rows.push(this.button(texts.remove, () => this.remove(key)));
      return this.part.form.replaceChildren(...rows);
    }

    target(key, node, edge) {
      const { texts, ends, defaults, edges } = this.outline;
      const box = make("select", { className: "iit-input" });
      box.append(make("option", { value: "", textContent: `${ends[defaults[edge]]} (${texts.default})` }));
      const targets = new Set([...Object.keys(this.config.nodes), ...Object.keys(ends)]);
      if (node[edge]) targets.add(node[edge]);
      for (const one of targets) if (one !== key) box.append(make("option", { value: one, textContent: this.nameOf(one) }));
      box.value = node[edge] ?? "";
      box.addEventListener("change", () => this.edit((config) => {
        if (box.value) config.nodes[key][edge] = box.value;
        else delete config.nodes[key][edge];
      }));
      const row = this.controls.row(edge, box);
      row.firstChild.textContent = `${edges[edge]} →`;
      row.append(this.button(texts.pick, () => {
        this.picking = edge;
        this.part.told.textContent = texts.picking.replace("%s", edges[edge]);
      }));
      return row;
    }

    list() {
      this.part.list.replaceChildren(...Object.entries(this.config.nodes).map(([key, node]) => {
        const ways = this.edgesOf(node).map((edge) => `${this.outline.edges[edge]} → ${this.nameOf(node[edge] || this.outline.defaults[edge])}`);
        const isStart = key === this.config.start_node;
        const row = make("li", {}, make("strong", { textContent: this.nameOf(key) }), ` ${key}${isStart ? ` (${this.outline.texts.start})` : ""}: ${ways.join("; ")} `);
        row.dataset.key = key;
        const edit = this.button(this.outline.texts.edit, () => {
          this.choose(key);
          this.part.form.querySelector("input, select, textarea").focus();
        });
        row.append(edit, " ", this.button(this.outline.texts.remove, () => this.remove(key)));
        return row;
      }));
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const root = document.getElementById("sop-editor");
    const box = document.getElementById("id_config");
    if (root && box && isWorkflow(parsed(box.value))) new Editor(root, box);
  });
})();
