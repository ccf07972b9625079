// A rule's JSON Logic as conditions and groups, and back. What was read and not changed is written as it stood
// (`raw`), so opening a rule changes nothing of it; what has no such shape is not read at all (Unfit).
window.iitRuleLogic = (() => {
  class Unfit extends Error {}

  const MOST_DEPTH = 6;
  const FLIPPED = { "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", before: "after", after: "before" };
  const SIGNS = { eq: "==", ne: "!=", lt: "<", le: "<=", gt: ">", ge: ">=", on: "==", not_on: "!=", is: "==", is_not: "!=" };
  const NEGATED = {
    eq: "ne", lt: "ge", le: "gt", blank: "filled", before: "not_before", after: "not_after", on: "not_on", is: "is_not",
    one_of: "none_of", ticked: "not_ticked", contains: "lacks",
  };
  const OPPOSITE = { ...NEGATED, ...Object.fromEntries(Object.entries(NEGATED).map(([a, b]) => [b, a])) };
  const DATES = { "==": "on", "!=": "not_on", "<": "before", before: "before", ">": "after", after: "after", "<=": "not_after", ">=": "not_before" };
  const CHOICES = { "==": "is", "!=": "is_not" };
  const NUMBERS = { "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" };
  const MISSING = { var: "" };
  const SHAPES = {
    number: /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i, date: /^\d{4}-\d\d-\d\d$/, datetime: /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/, time: /^\d\d:\d\d(:\d\d)?$/,
  };
  let count = 0;

  const condition = (given = {}) => ({
    id: `c${++count}`, kind: "condition", field: "", event: "", op: "", by: "value", value: "", top: "", codes: [], other: "", otherEvent: "", ...given,
  });
  const group = (joint, isNot, items, raw) => {
    const made = { id: `g${++count}`, kind: "group", joint, isNot, items };
    if (raw !== undefined) made.raw = raw;
    for (const item of items) item.parent = made;
    return made;
  };
  const single = (logic) => {
    const entries = logic && typeof logic === "object" && !Array.isArray(logic) ? Object.entries(logic) : [];
    if (entries.length !== 1) throw new Unfit();
    const [[name, given]] = entries;
    return [name, Array.isArray(given) ? given : [given]];
  };
  const isLiteral = (value) => typeof value === "string" || typeof value === "number";

  class Reader {
    constructor(offer) {
      this.fields = new Map(offer.fields.map((field) => [field.name, field]));
      this.aliases = offer.aliases;
      this.boxes = new Map(offer.fields.flatMap((field) => Object.entries(field.boxes).map(([box, code]) => [box, [field.name, code]])));
    }

    // {field, event, box} of {"var": name}, at an event or not; null where it is no field at all.
    operand(logic, event = "") {
      if (!logic || typeof logic !== "object" || Array.isArray(logic)) return null;
      const [name, given] = single(logic);
      if (name === "across_events" && !event && given.length === 2 && typeof given[0] === "string") return this.operand(given[1], given[0]);
      if (name !== "var" || given.length !== 1 || typeof given[0] !== "string") return null;
      const actual = Object.hasOwn(this.aliases, given[0]) ? this.aliases[given[0]] : given[0];
      const box = this.boxes.get(actual);
      if (actual && !box && !this.fields.has(actual)) throw new Unfit("not_offered");
      return { field: box ? box[0] : actual, event, box: box?.[1] };
    }

    read(logic) {
      const top = logic === true ? group("and", false, []) : this.part(logic, 0);
      return top.kind === "group" ? top : group("and", false, [top], logic);
    }

    part(logic, depth) {
      const [name, given] = single(logic);
      if (depth > MOST_DEPTH) throw new Unfit();
      if (name === "and" || name === "or") return group(name, false, given.map((one) => this.part(one, depth + 1)), logic);
      if (name === "!" && given.length === 1 && !this.operand(given[0])) {
        const inner = this.part(given[0], depth + 1);
        if (inner.kind === "group" && !inner.isNot) return Object.assign(inner, { isNot: true, raw: logic });
        if (inner.kind === "condition" && OPPOSITE[inner.op]) return Object.assign(inner, { op: OPPOSITE[inner.op], raw: logic });
        return group("or", true, [inner], logic);
      }
      return Object.assign(this.condition(name, given, logic), { raw: logic });
    }

    condition(name, given, logic) {
      if (name === "across_events") return this.there(given);
      if (["!", "!!", "is_blank"].includes(name)) return this.blank(name, given);
      if (name === "in") return this.member(given);
      if (name === "<=" && given.length === 3) return this.between(given);
      if (!Object.hasOwn(FLIPPED, name) || given.length !== 2) throw new Unfit(this.why(logic));
      const left = this.operand(given[0]);
      return left ? this.compared(name, left, given[1]) : this.compared(FLIPPED[name], this.operand(given[1]), given[0]);
    }

    // Nothing but a name that is not offered is told as such.
    why(logic) {
      for (const one of Object.values(logic).flat()) this.operand(one);
      return "";
    }

    there([event, inner, ...rest]) {
      const read = rest.length || typeof event !== "string" ? null : this.part(inner, MOST_DEPTH - 1);
      if (read?.kind !== "condition" || read.event || read.otherEvent) throw new Unfit();
      return Object.assign(read, { event, otherEvent: read.by === "field" ? event : "" });
    }

    kind(side) {
      if (!side) throw new Unfit();
      return this.fields.get(side.field)?.kind ?? "";
    }

    blank(name, given) {
      const side = given.length === 1 ? this.operand(given[0]) : null;
      const kind = this.kind(side);
      // Of a box, and of yes or no, JSON Logic's own signs ask for the tick.
      const isOfTick = name !== "is_blank" && ["choice", "ticks"].includes(kind);
      if (side.box || isOfTick) throw new Unfit();
      return condition({ field: side.field, event: side.event, op: name === "!!" ? "filled" : "blank" });
    }

    member([needle, stack, ...rest]) {
      if (rest.length) throw new Unfit();
      if (Array.isArray(stack)) {
        const side = this.operand(needle);
        if (this.kind(side) !== "choice" || !stack.length || !stack.every(isLiteral)) throw new Unfit();
        return condition({ field: side.field, event: side.event, op: "one_of", codes: stack.map(String) });
      }
      const side = this.operand(stack);
      const op = { ticks: "ticked", text: "contains" }[this.kind(side)];
      if (!op || side.box) throw new Unfit();
      return condition({ field: side.field, event: side.event, op, value: this.literal(needle, "") });
    }

    between([low, middle, high]) {
      const side = this.operand(middle);
      const kind = this.kind(side);
      if (!["number", "date", "datetime", "time"].includes(kind)) throw new Unfit();
      return condition({ field: side.field, event: side.event, op: "between", value: this.literal(low, kind), top: this.literal(high, kind) });
    }

    literal(value, kind) {
      if (value && value.var === "") return "";
      if (!isLiteral(value) || value === "") throw new Unfit();
      if (SHAPES[kind] && !SHAPES[kind].test(String(value))) throw new Unfit();
      return String(value);
    }

    compared(sign, left, right) {
      const kind = this.kind(left);
      if (left.box) return this.ticked(sign, left, right);
      const about = { field: left.field, event: left.event };
      const op = kind === "" ? "" : { date: DATES, datetime: DATES, choice: CHOICES, text: { "==": "eq", "!=": "ne" }, ticks: {} }[kind]?.[sign] ?? (SHAPES[kind] && NUMBERS[sign]);
      if (op === undefined) throw new Unfit();
      if (right && typeof right === "object" && "today" in right) {
        if (!kind.startsWith("date")) throw new Unfit();
        return condition({ ...about, op, by: "today" });
      }
      const side = right && typeof right === "object" && right.var !== "" ? this.operand(right) : null;
      if (!side) return condition({ ...about, op, value: this.literal(right, kind) });
      if (side.box || !SHAPES[kind] || !SHAPES[this.kind(side)]) throw new Unfit();
      return condition({ ...about, op, by: "field", other: side.field, otherEvent: side.event });
    }

    ticked(sign, left, right) {
      if (!["==", "!="].includes(sign) || !["0", "1"].includes(String(right))) throw new Unfit();
      const op = (sign === "==") === (String(right) === "1") ? "ticked" : "not_ticked";
      return condition({ field: left.field, event: left.event, op, value: left.box });
    }
  }

  const needsValue = (one) => !["blank", "filled"].includes(one.op);

  const at = (event, logic) => (event ? { across_events: [event, logic] } : logic);

  const compared = (one, kind) => {
    const field = { var: one.field };
    const typed = (value) => {
      if (value === "") return MISSING;
      return kind === "number" && Number.isFinite(Number(value)) ? Number(value) : value;
    };
    const other = one.by === "field" ? at(one.otherEvent, { var: one.other }) : null;
    const left = other ? at(one.event, field) : field;
    const right = one.by === "today" ? { today: [] } : other ?? typed(one.value);
    switch (one.op) {
      case "blank": return { is_blank: [field] };
      case "filled": return { "!": [{ is_blank: [field] }] };
      case "between": return { "<=": [typed(one.value), field, typed(one.top)] };
      case "one_of": return one.codes.length ? { in: [field, one.codes] } : { "==": [field, MISSING] };
      case "none_of": return one.codes.length ? { "!": [{ in: [field, one.codes] }] } : { "!=": [field, MISSING] };
      case "ticked": case "contains": return { in: [right, field] };
      case "not_ticked": case "lacks": return { "!": [{ in: [right, field] }] };
      case "before": case "after": return { [one.op]: [left, right] };
      case "not_before": return { "!": [{ before: [left, right] }] };
      case "not_after": return { "!": [{ after: [left, right] }] };
      default: return { [SIGNS[one.op] ?? "=="]: [left, right] };
    }
  };

  const write = (node, fields, isTop = true) => {
    if (node.raw !== undefined) return node.raw;
    if (node.kind === "condition") {
      const logic = compared(node, fields.get(node.field)?.kind);
      // Of two fields each has its own visit; what is compared with nothing keeps the one it has.
      return node.by === "field" && needsValue(node) ? logic : at(node.event, logic);
    }
    const items = node.items.map((item) => write(item, fields, false));
    if (items.length === 1 && node.isNot) return { "!": items };
    if (items.length === 1 && isTop) return items[0];
    return node.isNot ? { "!": [{ [node.joint]: items }] } : { [node.joint]: items };
  };

  // What stands around something that changed is written anew; its other parts stay as they stood.
  const touch = (node) => {
    for (let one = node; one; one = one.parent) delete one.raw;
  };

  const isWhole = (one) => {
    if (!needsValue(one) || one.by === "today") return true;
    if (one.by === "field") return one.other !== "";
    if (one.op === "between") return one.value !== "" && one.top !== "";
    return ["one_of", "none_of"].includes(one.op) ? one.codes.length > 0 : one.value !== "";
  };

  return { Reader, Unfit, condition, group, write, touch, needsValue, isWhole };
})();
