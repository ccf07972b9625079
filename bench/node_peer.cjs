// Peer of bench/rules.py: json-logic-engine's compiled rules. argv: folder of node_modules, data file.
const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");

const [folder, file] = process.argv.slice(2);
const { LogicEngine } = createRequire(folder + "/")("json-logic-engine");
const { rules, records, size } = JSON.parse(readFileSync(file, "utf-8"));
const engine = new LogicEngine();
const compiled = rules.map((rule) => engine.build(rule));

let round = 0;

function pass(some, keep) {
  for (const record of some) {
    const values = new Array(compiled.length);
    for (let i = 0; i < compiled.length; i++) values[i] = compiled[i](record);
    if (keep) keep.push(values);
  }
}

const commands = {
  ready: () => {
    for (let i = 0; i < 40; i++) pass(records.slice(0, size), null); // until the optimising compiler has done its work
    return true;
  },
  answers: () => {
    const kept = [];
    pass(records, kept);
    return kept;
  },
  time: () => {
    const some = records.slice(round * size, ++round * size);
    const before = process.cpuUsage();
    pass(some, null);
    const spent = process.cpuUsage(before);
    return (spent.user + spent.system) / 1e6;
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify(commands[line]()) + "\n");
});
