// The graph editor of a workflow: drawing, forms and list of the same configuration, in step with the JSON text. The
// server says what a node takes (data-outline) and what is wrong (the check below the text); nothing is stored here.
(() => {
  const { make } = window.iitRuleParts;
  const { Controls } = window.iitSopControls;
  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const isWorkflow = (config) => Boolean(config) && typeof config === "object" && Boolean(config.nodes) &&
    typeof config.nodes === "object" && Object.values(config.nodes).every((node) => node && typeof node === "object");
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
      root.closest(".sop-panel").classList.add("is-live");
      root.sop = this;
      this.drawn = cytoscape({ container: this.part.canvas, style: sopDraw.style(), minZoom: 0.3, maxZoom: 1.5 });
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
      new MutationObserver(() => this.drawn.style(sopDraw.style())).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
      document.addEventListener("iit:checked", () => this.marks());
    }

    tapped(key) {
      if (!isWorkflow(this.config)) return;
      if (this.picking && key !== this.here) {
        const edge = this.picking;
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
      this.keeps = this.part.form.contains(typed) && typed.matches("textarea, input:not([type=checkbox]), .rule-builder *");
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

    // Whoever was to point at a target points at what stands there by now, or not at all.
    take(text) {
      this.text = text;
      this.config = parsed(text);
      this.picking = "";
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
      if (!isWorkflow(this.config)) return;
      let number = 1;
      while (this.config?.nodes?.[`${kind}_${number}`]) number += 1;
      const key = `${kind}_${number}`;
      this.here = key;
      this.edit((config) => { config.nodes[key] = { type: kind }; });
    }

    remove(key) {
      if (!isWorkflow(this.config)) return;
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
      if (!isWorkflow(this.config)) return;
      if (!name || this.config.nodes[name]) {
        this.redrawn();
        return;
      }
      this.here = name;
      this.edit((config) => {
        config.nodes = Object.fromEntries(Object.entries(config.nodes).map(([one, node]) => [one === key ? name : one, node]));
        for (const node of Object.values(config.nodes)) {
          for (const edge of this.edgesOf(node)) if (node[edge] === key) node[edge] = name;
        }
        if (config.start_node === key) config.start_node = name;
      });
      this.redrawn();
    }

    edgesOf(node) {
      return this.outline.kinds[node.type]?.edges ?? [];
    }

    nameOf(key) {
      const node = this.config.nodes[key];
      if (!node) return this.outline.ends[key] ?? key;
      return node.description || this.outline.kinds[node.type]?.label || key;
    }

    whole() {
      this.choose("");
    }

    choose(key) {
      this.here = key;
      this.picking = "";
      if (isWorkflow(this.config)) this.part.told.textContent = "";
      this.form();
      this.marks();
    }

    show() {
      this.root.dispatchEvent(new Event("sop:changed"));
      const isFine = isWorkflow(this.config);
      this.part.told.textContent = isFine ? "" : this.outline.texts.broken;
      if (!isFine) return;
      this.draw();
      if (!this.keeps) this.redrawn();
      this.list();
      this.marks();
    }

    draw() {
      this.drawn.elements().remove();
      this.drawn.add(sopDraw.elements(this.config, this.outline, (key) => this.nameOf(key)));
      this.drawn.layout({ name: "dagre", rankDir: "TB", nodeSep: 30, rankSep: 55, animate: false, fit: true, padding: 15 }).run();
      for (const [key, place] of Object.entries(this.moved)) this.drawn.getElementById(key).position(place);
    }

    marks() {
      this.part.whole.replaceChildren(...this.errors(""));
      const bad = new Set([...document.querySelectorAll("#skill-check li.iit-error[data-node]")].map((one) => one.dataset.node));
      this.drawn.nodes().forEach((node) => {
        node.toggleClass("is-bad", bad.has(node.id()));
        node.toggleClass("is-here", node.id() === this.here);
        node.toggleClass("is-start", node.id() === this.config?.start_node);
      });
      this.part.form.querySelector("[data-errors]")?.replaceChildren(...this.errors(this.here));
      for (const row of this.part.list.children) row.classList.toggle("is-bad", bad.has(row.dataset.key));
    }

    errors(key) {
      const said = [...document.querySelectorAll("#skill-check li[data-node]")].filter((one) => one.dataset.node === key);
      return said.map((one) => make("li", { className: one.className, textContent: one.dataset.message }));
    }

    button(text, action) {
      const made = make("button", { type: "button", className: "iit-chip", textContent: text });
      made.addEventListener("click", action);
      return made;
    }

    // The form anew, with the focus on the box that had it: the one of its place, counted from either end.
    redrawn() {
      const boxes = () => [...this.part.form.querySelectorAll("input, select, textarea, button")];
      const told = (one) => [one.tagName, one.type, one.dataset.name, one.tagName === "BUTTON" && one.textContent].join();
      const before = boxes();
      const at = before.indexOf(document.activeElement);
      this.form();
      if (at < 0) return;
      const after = boxes();
      const same = [after[at], after[after.length - before.length + at]].find((one) => one && told(one) === told(before[at]));
      same?.focus();
    }

    form() {
      const { texts, kinds, schema } = this.outline;
      const key = this.here;
      const node = this.config?.nodes?.[key];
      this.controls.place = key;
      if (!node) return this.part.form.replaceChildren(...this.itself());
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

    // What holds for the whole workflow, shown while no node is chosen.
    itself() {
      const { texts, schema } = this.outline;
      const names = Object.keys(schema.properties).filter((one) => !["nodes", "start_node"].includes(one));
      const rows = isWorkflow(this.config) ? names.map((one) => this.controls.of(one, schema.properties[one], this.config[one], (value) => this.edit((config) => {
        if (value === undefined) delete config[one];
        else config[one] = value;
      }))) : [];
      return [make("h3", { textContent: texts.whole }), make("p", { className: "iit-muted", textContent: texts.none }), ...rows];
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
