// The tables of nodes and edges: sorted and searched over all embedded rows, drawn some hundred rows at a time.

const ROWS = 200;
const tables = [];

/** Value and two standard errors either way as a small picture, on one scale for the whole table. */
function errorBar(value, stderr, reach) {
  const x = (v) => (75 + (70 * Math.max(-reach, Math.min(reach, v))) / reach).toFixed(1);
  const parts = [makeSvg("line", { x1: 75, x2: 75, y1: 0, y2: 16, class: "axis0" })];
  if (stderr) parts.push(makeSvg("line", { x1: x(value - 2 * stderr), x2: x(value + 2 * stderr), y1: 8, y2: 8, class: "reach" }));
  parts.push(makeSvg("rect", { x: x(value) - 2.5, y: 4, width: 5, height: 8, class: value < 0 ? "point harms" : "point" }));
  return makeSvg("svg", { viewBox: "0 0 150 16", "aria-hidden": "true" }, ...parts);
}

/** Missing numbers last; ids that are numbers by size, before words. */
const collator = new Intl.Collator("en", { numeric: true });
function compare(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" ? a - b : collator.compare(a, b);
  return down ? -order : order;
}

function table(name, columns, count, text, choose, isChosen) {
  const element = get(`${name}-table`);
  const state = { by: columns.findIndex((column) => column.start), down: true, limit: ROWS, rows: [] };
  const body = make("tbody");
  const heads = columns.map((column, c) => {
    if (!column.key) return make("th", { scope: "col", class: column.screen ? "screen" : "" }, make("span", { class: "head" }, column.title));
    const press = () => {
      state.down = state.by === c ? !state.down : typeof column.key(0) === "number";
      state.by = c;
      state.limit = ROWS;
      arrange();
    };
    return make("th", { scope: "col", class: column.right ? "right" : "" }, make("button", { type: "button", onclick: press }, column.title),
      make("span", { class: "head printed", "aria-hidden": "true" }, column.title));
  });
  element.append(make("thead", {}, make("tr", {}, ...heads)), body);

  function render() {
    body.replaceChildren(...state.rows.slice(0, state.limit).map((k) => {
      const row = make("tr", { class: isChosen(k) ? "chosen" : "", onclick: (event) => { if (!event.target.closest("a, button")) choose(k); } },
        ...columns.map((column) => make("td", { class: [column.right && "right", !column.key && "bar", column.screen && "screen"].filter(Boolean).join(" ") }, column.cell(k))));
      row.dataset.row = k;
      return row;
    }));
    const hidden = Math.max(0, state.rows.length - state.limit);
    if (hidden === 0 && document.activeElement === get(`${name}-more`)) element.parentElement.focus({ preventScroll: true });
    get(`${name}-more`).hidden = hidden === 0;
    get(`${name}-more`).textContent = `Show ${Math.min(ROWS, hidden)} more of ${hidden.toLocaleString("en")}`;
  }

  function arrange() {
    const words = get(`${name}-search`).value.trim().toLowerCase();
    const rows = [];
    for (let k = 0; k < count; k++) if (!words || text(k).some((part) => part.toLowerCase().includes(words))) rows.push(k);
    const key = columns[state.by].key;
    rows.sort((a, b) => compare(key(a), key(b), state.down) || a - b);
    state.rows = rows;
    heads.forEach((head, c) => { if (columns[c].key) head.setAttribute("aria-sort", c === state.by ? (state.down ? "descending" : "ascending") : "none"); });
    get(`${name}-count`).textContent = words ? `${rows.length.toLocaleString("en")} of ${count.toLocaleString("en")}` : "";
    render();
  }

  get(`${name}-search`).addEventListener("input", () => { state.limit = ROWS; arrange(); });
  get(`${name}-more`).addEventListener("click", () => { state.limit += ROWS; render(); });
  const mark = () => { for (const row of body.rows) row.classList.toggle("chosen", isChosen(Number(row.dataset.row))); };
  tables.push(mark);
  arrange();
}

function markRows() {
  tables.forEach((mark) => mark());
}

function startTables() {
  const reachOf = (part, n) => Math.max(...part.value.slice(0, n).map((v, k) => Math.abs(v) + 2 * (part.stderr[k] ?? 0)), 0) || 1;
  const few = (n, of, things, which) => (n < of ? `Of ${counted(of, things)} ${which} are listed; all are in ${things}s.csv. ` : "");
  const bars = "The figure after ± is one standard error; the bars reach two of them either way.";
  const numeric = (part, name, title, start = false) => ({ title, key: (k) => part[name][k], right: true, start, cell: (k) => signed(part[name][k]) });
  const error = (part, name, title) => ({ title, key: (k) => part[name][k], right: true, cell: (k) => plain(part[name][k]) });
  const extra = (part) => (part.stderr_validation ? [error(part, "stderr_validation", "± validation")] : []);
  const whole = (name, title) => ({ title, key: (k) => nodes[name][k], right: true, cell: (k) => nodes[name][k].toLocaleString("en") });

  const nodeReach = reachOf(nodes, nodes.listed);
  get("nodes-note").textContent = `${few(nodes.listed, nodes.of, "node", firstNodes(nodes.listed))}${bars} “Value of paths” counts all players whose path contains the node; “Distance” is the fewest steps from a labelled one. Choose a node to see its players.`;
  table("nodes", [
    { title: "Node", key: (k) => nodes.id[k], cell: (k) => nodeLink(k, true) },
    { title: "Class", key: className, cell: className },
    { title: "Labelled", key: (k) => nodes.labelled[k], cell: (k) => (nodes.labelled[k] ? "yes" : "no") },
    numeric(nodes, "value", "Value", true),
    error(nodes, "stderr", "±"),
    { title: "Value with error bar", cell: (k) => errorBar(nodes.value[k], nodes.stderr[k], nodeReach) },
    ...extra(nodes),
    numeric(nodes, "value_path", "Value of paths"),
    whole("degree", "Degree"), whole("distance", "Distance"), whole("players", "Players"),
  ], nodes.listed, (k) => [nodes.id[k], className(k)], (k) => chooseNode(k, true), (k) => chosen.node === k);

  const [a, b] = [(e) => edges.source[e], (e) => edges.target[e]];
  const edgeReach = reachOf(edges, edges.value.length);
  get("edges-note").textContent = `${few(edges.value.length, edges.of, "edge", `the ${edges.value.length.toLocaleString("en")} strongest`)}${bars} Choose an edge to see it in the graph.`;
  const classesOf = (e) => (className(a(e)) === className(b(e)) ? className(a(e)) : `${className(a(e))} – ${className(b(e))}`);
  table("edges", [
    { title: "Source", key: (e) => nodes.id[a(e)], cell: (e) => nodeLink(a(e), true) },
    { title: "Target", key: (e) => nodes.id[b(e)], cell: (e) => nodeLink(b(e), true) },
    { title: "Classes", key: classesOf, cell: classesOf },
    numeric(edges, "value", "Value", true),
    error(edges, "stderr", "±"),
    { title: "Value with error bar", cell: (e) => errorBar(edges.value[e], edges.stderr[e], edgeReach) },
    ...extra(edges),
    { title: "In the graph", screen: true, cell: (e) => make("a", { href: "#graph", "aria-label": `Show edge ${nodes.id[a(e)]} – ${nodes.id[b(e)]} in the graph`, onclick: () => chooseEdge(e) }, "show") },
  ], edges.value.length, (e) => [nodes.id[a(e)], nodes.id[b(e)], className(a(e)), className(b(e))], (e) => chooseEdge(e), (e) => chosen.edge === e);
}
