// How the graph of a workflow looks: colours of the theme, and boxes and lines of a configuration.
(() => {
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
        shape: "round-rectangle", width: 150, height: 50, label: "data(label)", "text-wrap": "wrap", "text-max-width": 138, "text-overflow-wrap": "anywhere",
        "text-valign": "center", "text-halign": "center", "font-size": 12, color: colour("--iit-strong"),
        "background-color": colour("--iit-soft"), "border-width": 1, "border-color": colour("--iit-mute"),
      },
    },
    { selector: "node.is-end", style: { height: 34, "background-color": colour("--iit-card"), "border-style": "dashed" } },
    { selector: "node.is-missing", style: { "border-width": 3, "border-color": colour("--iit-bad") } },
    { selector: "node.is-start", style: { "border-width": 3, "border-color": colour("--iit-info") } },
    { selector: "node.is-lit", style: { "border-width": 4, "border-style": "solid", "border-color": colour("--iit-ok") } },
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
    { selector: "edge.is-lit", style: { width: 4, "line-color": colour("--iit-ok"), "target-arrow-color": colour("--iit-ok") } },
  ];

  // Boxes of nodes, ends and missing targets, and a line for each edge that is worth one.
  const elements = (config, outline, nameOf) => {
    const { nodes } = config;
    const boxes = new Map();
    const box = (key) => {
      const label = nameOf(key);
      const kind = nodes[key] ? "" : key in outline.ends || key.startsWith("end_") ? "is-end" : "is-end is-missing";
      boxes.set(key, { data: { id: key, label: label.length > 20 ? `${label.slice(0, 19)}…` : label }, classes: kind });
    };
    for (const key of Object.keys(nodes)) box(key);
    const lines = [];
    for (const [key, node] of Object.entries(nodes)) {
      for (const edge of outline.kinds[node.type]?.edges ?? []) {
        const target = node[edge] || outline.defaults[edge];
        if (edge === "on_error" && !node[edge]) continue;
        if (!boxes.has(target)) box(target);
        lines.push({ data: { id: `${key} ${edge}`, source: key, target, label: outline.edges[edge] } });
      }
    }
    return [...boxes.values(), ...lines];
  };

  window.sopDraw = { style, elements };
})();
