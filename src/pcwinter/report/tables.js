// The tables of nodes and edges. Sorting, search and filters cover all embedded rows; 200 rows are drawn at a time.

const ROWS = 200;
const tables = [];

/** A small chart of a value and its 95% interval, value ± reach. All rows of a table share one scale, up to `end`. */
function errorBar(value, reach, end) {
  const x = (v) => (75 + (70 * Math.max(-end, Math.min(end, v))) / end).toFixed(1);
  const parts = [makeSvg("line", { x1: 75, x2: 75, y1: 0, y2: 16, class: "axis0" })];
  if (reach) parts.push(makeSvg("line", { x1: x(value - reach), x2: x(value + reach), y1: 8, y2: 8, class: "reach" }));
  parts.push(makeSvg("rect", { x: x(value) - 2.5, y: 4, width: 5, height: 8, class: value < 0 ? "point harms" : "point" }));
  return makeSvg("svg", { viewBox: "0 0 150 16", "aria-hidden": "true" }, ...parts);
}

/** Missing numbers come last. Ids that are numbers are sorted by size, before other ids. */
const collator = new Intl.Collator("en", { numeric: true });
function compare(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" ? a - b : collator.compare(a, b);
  return down ? -order : order;
}

/** Rows as CSV, with the names and the entries of the columns that have them. */
function asCsv(columns, rows) {
  const quoted = (entry) => (/[",\r\n]/.test(entry) ? `"${entry.replaceAll('"', '""')}"` : entry);
  const fields = columns.flatMap((column) => column.csv ?? []);
  const lines = [fields.map(([name]) => name), ...rows.map((k) => fields.map(([, entry]) => entry(k) ?? ""))];
  return lines.map((line) => `${line.map((entry) => quoted(String(entry))).join(",")}\r\n`).join("");
}

function save(filename, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href: url, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Fill one table.
 *   name      "nodes" or "edges", the start of the ids of its elements
 *   thing     what a row is, in the singular, for the line with the counts
 *   count     the number of rows
 *   text      row -> the texts that the search looks at
 *   filters   [select, (row, choice) -> whether to keep the row]
 *   choose    what a click on a row does
 *   isChosen  row -> whether it is the chosen one
 */
function table({ name, thing, columns, count, text, filters, choose, isChosen }) {
  const element = get(`${name}-table`);
  const state = { by: columns.findIndex((column) => column.start), down: true, limit: ROWS, rows: [], filtered: false };
  const body = make("tbody");
  const restart = () => { state.limit = ROWS; arrange(); };
  const heads = columns.map((column, c) => {
    if (!column.key) return make("th", { scope: "col", class: column.screen ? "screen" : "" }, make("span", { class: "head" }, column.title));
    const press = () => {
      state.down = state.by === c ? !state.down : typeof column.key(0) === "number";
      state.by = c;
      restart();
    };
    return make("th", { scope: "col", class: column.right ? "right" : "" }, make("button", { type: "button", onclick: press }, column.title),
      make("span", { class: "head printed", "aria-hidden": "true" }, column.title));
  });
  element.append(make("thead", {}, make("tr", {}, ...heads)), body);

  function makeRow(k) {
    const classes = [isChosen(k) && "chosen", data[name].unclear[k] && "unclear"].filter(Boolean).join(" ");
    const row = make("tr", { class: classes, onclick: (event) => { if (!event.target.closest("a, button")) choose(k); } },
      ...columns.map((column) => make("td", { class: [column.right && "right", !column.key && "bar", column.screen && "screen"].filter(Boolean).join(" ") }, column.cell(k))));
    row.dataset.row = k;
    return row;
  }

  function render() {
    const found = state.rows.length;
    const drawnRows = Math.min(found, state.limit);
    const hidden = found - drawnRows;
    body.replaceChildren(...state.rows.slice(0, drawnRows).map(makeRow));
    const more = get(`${name}-more`);
    if (hidden === 0 && document.activeElement === more) element.parentElement.focus({ preventScroll: true });
    more.hidden = hidden === 0;
    more.textContent = hidden > ROWS ? `Show ${ROWS} more` : `Show the remaining ${hidden}`;
    const matching = state.filtered && hidden ? `${counted(found, `matching ${thing}`)} (${count.toLocaleString("en")} in total)` : counted(count, thing);
    get(`${name}-count`).textContent = `Showing ${drawnRows.toLocaleString("en")} of ${matching}`;
    get(`${name}-download`).disabled = found === 0;
  }

  function arrange() {
    const words = get(`${name}-search`).value.trim().toLowerCase();
    const active = filters.filter(([select]) => select.value !== "");
    const fits = (k) => active.every(([select, keep]) => keep(k, Number(select.value))) && (!words || text(k).some((part) => part.toLowerCase().includes(words)));
    const rows = [];
    for (let k = 0; k < count; k++) if (fits(k)) rows.push(k);
    const key = columns[state.by].key;
    rows.sort((a, b) => compare(key(a), key(b), state.down) || a - b);
    state.rows = rows;
    state.filtered = Boolean(words) || active.length > 0;
    heads.forEach((head, c) => { if (columns[c].key) head.setAttribute("aria-sort", c === state.by ? (state.down ? "descending" : "ascending") : "none"); });
    render();
  }

  get(`${name}-search`).addEventListener("input", restart);
  for (const [select] of filters) select.addEventListener("change", restart);
  get(`${name}-more`).addEventListener("click", () => { state.limit += ROWS; render(); });
  get(`${name}-download`).addEventListener("click", () => save(`${name}.csv`, asCsv(columns, state.rows)));
  tables.push(() => { for (const row of body.rows) row.classList.toggle("chosen", isChosen(Number(row.dataset.row))); });
  arrange();
}

/** The select with the classes that occur; without at least two of them it is hidden. */
function classSelect(id, kinds) {
  const found = [...new Set(kinds)].sort((a, b) => a - b);
  get(id).append(...found.map((kind) => make("option", { value: kind }, shown(classes[kind]))));
  get(id).hidden = found.length < 2;
  return get(id);
}

function markRows() {
  tables.forEach((mark) => mark());
}

function startTables() {
  const endOf = (part, n) => Math.max(...part.value.slice(0, n).map((v, k) => Math.abs(v) + (part.reach[k] ?? 0)), 0) || 1;
  const errors = (part) => (part.stderr.some((error) => error > 0)
    ? ["The number after ± is one standard error. The bars are 95% intervals, from Student’s t distribution.",
      "A muted row is marked “unclear” if its interval contains zero, so its sign may be due to chance.",
      ...(part.stderr.includes(null) ? ["The error is unknown (–) where fewer than two orders visited the players; these rows are unclear, too."] : [])] : []);
  const listed = (n, of, thing, which) => (n < of ? [`This table lists ${which}, out of ${counted(of, thing)}. All are in ${thing}s.csv.`] : []);
  const download = "“Download CSV” saves all matching rows, with the numbers rounded as in the table.";

  const number = (part, name, title, show, start = false) => ({ title, key: (k) => part[name][k], right: true, start, cell: (k) => show(part[name][k]), csv: [[name, (k) => part[name][k]]] });
  const value = (part) => number(part, "value", "Value", signed, true);
  const error = (part) => number(part, "stderr", "±", plain);
  const validationError = (part) => [["stderr_validation", "± validation"], ["stderr_total", "± total"]]
    .filter(([name]) => part[name]).map(([name, title]) => number(part, name, title, plain));
  const whole = (name, title) => number(nodes, name, title, (n) => n.toLocaleString("en"));
  const effectOf = (part) => (k) => (part.unclear[k] ? "unclear" : verdict(part.value[k]));
  const effect = (part) => ({
    title: "Effect", key: effectOf(part), csv: [["effect", effectOf(part)]],
    cell: (k) => (part.unclear[k] ? make("abbr", { title: "the 95% interval contains zero or is unknown" }, "unclear") : make("span", { class: tone(part.value[k]) }, verdict(part.value[k]))),
  });

  const nodeEnd = endOf(nodes, nodes.listed);
  get("nodes-note").textContent = [
    ...listed(nodes.listed, nodes.of, "node", firstNodes(nodes.listed)), ...errors(nodes),
    "“Value of paths” counts all players whose path contains the node. “Distance” is the number of steps from the nearest labelled node.",
    "Choose a node to see its players.", download,
  ].join(" ");
  table({
    name: "nodes",
    thing: nodes.listed < nodes.of ? "listed node" : "node",
    columns: [
      { title: "Node", key: (k) => nodes.id[k], cell: (k) => nodeLink(k, true), csv: [["node", (k) => nodes.id[k]]] },
      value(nodes),
      error(nodes),
      effect(nodes),
      { title: "Class", key: className, cell: className, csv: [["class", className]] },
      { title: "Labelled", key: (k) => nodes.labelled[k], cell: (k) => (nodes.labelled[k] ? "yes" : "no"), csv: [["labelled", (k) => (nodes.labelled[k] ? "True" : "False")]] },
      { title: "Value with error bar", cell: (k) => errorBar(nodes.value[k], nodes.reach[k], nodeEnd) },
      ...validationError(nodes),
      { ...number(nodes, "value_path", "Value of paths", signed), csv: ["value_path", "stderr_path"].map((name) => [name, (k) => nodes[name][k]]) },
      whole("degree", "Degree"), whole("distance", "Distance"), whole("players", "Players"),
    ],
    count: nodes.listed,
    text: (k) => [nodes.id[k], className(k)],
    filters: [
      [classSelect("nodes-class", nodes.kind.slice(0, nodes.listed)), (k, kind) => nodes.kind[k] === kind],
      [get("nodes-labelled"), (k, labelled) => nodes.labelled[k] === labelled],
    ],
    choose: (k) => chooseNode(k, true),
    isChosen: (k) => chosen.node === k,
  });

  const [a, b] = [(e) => edges.source[e], (e) => edges.target[e]];
  const count = edges.value.length;
  const edgeEnd = endOf(edges, count);
  get("edges-note").textContent = [
    ...listed(count, edges.of, "edge", `the ${counted(count, "edge")} with the largest absolute value`), ...errors(edges),
    "“Within class” is the value of the edge compared with the average edge of its class. The class is that of the labelled nodes whose paths end with the edge.",
    "Choose an edge to see it in the graph.", download,
  ].join(" ");
  const classesOf = (e) => (className(a(e)) === className(b(e)) ? className(a(e)) : `${className(a(e))}${edges.between}${className(b(e))}`);
  table({
    name: "edges",
    thing: count < edges.of ? "listed edge" : "edge",
    columns: [
      { title: "Source", key: (e) => nodes.id[a(e)], cell: (e) => nodeLink(a(e), true), csv: [["source", (e) => nodes.id[a(e)]]] },
      { title: "Target", key: (e) => nodes.id[b(e)], cell: (e) => nodeLink(b(e), true), csv: [["target", (e) => nodes.id[b(e)]]] },
      value(edges),
      error(edges),
      effect(edges),
      number(edges, "within_class", "Within class", signed),
      { title: "Classes", key: classesOf, cell: classesOf, csv: [["source_class", (e) => className(a(e))], ["target_class", (e) => className(b(e))]] },
      { title: "Value with error bar", cell: (e) => errorBar(edges.value[e], edges.reach[e], edgeEnd) },
      ...validationError(edges),
      { title: "In the graph", screen: true, cell: (e) => make("a", { href: "#graph", "aria-label": `Show edge ${nodes.id[a(e)]}${edges.between}${nodes.id[b(e)]} in the graph`, onclick: () => chooseEdge(e) }, "show") },
    ],
    count,
    text: (e) => [nodes.id[a(e)], nodes.id[b(e)], className(a(e)), className(b(e))],
    filters: [[classSelect("edges-class", [...edges.source, ...edges.target].map((k) => nodes.kind[k])), (e, kind) => nodes.kind[a(e)] === kind || nodes.kind[b(e)] === kind]],
    choose: (e) => chooseEdge(e),
    isChosen: (e) => chosen.edge === e,
  });
}
