// A chosen node or edge -> a panel with the players that make up its value, and the paths to highlight in the graph.

/** The embedded players of a listed node, grouped by labelled node: the sum of a group, and its paths as lists of nodes. */
function playersOf(k) {
  const found = [];
  if (k >= nodes.listed) return found;
  for (let g = groups.begin[k]; g < groups.begin[k + 1]; g++) {
    const paths = [];
    for (let p = groups.first[g]; p < groups.first[g + 1]; p++) {
      const inner = groups.inner.slice(p * groups.width, (p + 1) * groups.width).filter((step) => step >= 0);
      const root = groups.root[g];
      paths.push({ steps: root === k && !inner.length ? [k] : [root, ...inner, k], value: groups.value[p], stderr: groups.stderr[p], unclear: groups.unclear[p] });
    }
    found.push({ root: groups.root[g], total: groups.total[g], paths, count: groups.paths[g], rest: groups.rest[g] });
  }
  return found;
}

/** The embedded players whose last step is the edge. */
function playersOfEdge(a, b) {
  const last = (k, before) => playersOf(k).flatMap((group) => group.paths).filter(({ steps }) => steps.length > 1 && steps.at(-2) === before);
  return [...last(b, a), ...last(a, b)].sort((p, q) => Math.abs(q.value) - Math.abs(p.value));
}

function pathItem(path) {
  const way = make("span", { class: "way" });
  path.steps.forEach((step, k) => way.append(...(k ? [" → "] : []), nodeLink(step)));
  if (path.steps.length === 1) way.append(" itself");
  const digits = decimals + 1;
  const figure = make("span", { class: "figure" }, make("span", { class: tone(path.value) }, spoken(path.value, path.unclear)), ` ${withError(path.value, path.stderr, digits)}`);
  return make("li", {}, way, figure);
}

function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact)]));
}

/** Whether a path changed the model in no order, up to rounding. */
const quiet = (path) => path.value === 0 && !path.stderr;

function groupSection(group) {
  const digits = decimals + 1;
  const heading = make("p", { class: "through" }, make("span", {}, "From ", make("strong", {}, nodeLink(group.root)), `, class ${className(group.root)}`),
    make("span", { class: "figure" }, make("span", { class: tone(group.total) }, verdict(group.total)), ` ${signed(group.total, digits)}`));
  const paths = group.paths.filter((path) => !quiet(path));
  const further = group.count - paths.length;
  return make("div", { class: "root" }, heading, make("ul", {}, ...paths.map(pathItem)),
    further ? make("p", { class: "note" }, `and ${counted(further, "weaker path")} with a total of ${signed(group.rest, digits)}`) : null);
}

function headline(table, k) {
  return make("p", { class: "big" }, withError(table.value[k], table.stderr[k]), " ", make("span", { class: tone(table.value[k]) }, spoken(table.value[k], table.unclear[k])));
}

const validation = (table, k) => [["± validation", table.stderr_validation], ["± total", table.stderr_total]]
  .filter(([, errors]) => errors).map(([title, errors]) => [title, plain(errors[k])]);

function nodePanel(k) {
  const found = playersOf(k);
  const missing = k >= drawn ? "The graph does not show this node." : "";
  const parts = [
    make("h3", {}, `Node ${shown(nodes.id[k])}`),
    headline(nodes, k),
    facts([
      ["Class", className(k)],
      ["Labelled", nodes.labelled[k] ? "yes" : "no"],
      ["Degree", nodes.degree[k]],
      ["Distance", counted(nodes.distance[k], "step")],
      ["Value of paths", withError(nodes.value_path[k], nodes.stderr_path[k])],
      ...validation(nodes, k),
      ["Players", nodes.players[k].toLocaleString("en")],
    ]),
    missing && make("p", { class: "note" }, missing),
  ];
  if (k >= nodes.listed) {
    parts.push(make("p", { class: "note" }, "This page does not list the players of this node. All players are in players.npz."));
    return parts;
  }
  parts.push(make("h4", {}, "Players that make up the value, by labelled node"));
  const loud = found.filter((group) => !group.paths.every(quiet));
  parts.push(...loud.map(groupSection));
  if (!found.length) parts.push(make("p", { class: "note" }, "None of its players can change the model."));
  const left = [];
  const leftRoots = groups.left_roots[k] + found.length - loud.length;
  if (leftRoots) {
    const paths = found.filter((group) => !loud.includes(group)).reduce((sum, group) => sum + group.count, groups.left_paths[k]);
    left.push(`${counted(paths, "path")} from ${counted(leftRoots, loud.length ? "further labelled node" : "labelled node")} with a total of ${signed(groups.left_total[k], decimals + 1)}.`);
  }
  if (groups.null[k]) left.push(`${counted(groups.null[k], "null player")} with a value of exactly 0, because the path adds no edge.`);
  parts.push(...left.map((line) => make("p", { class: "note" }, line)));
  return parts;
}

function edgePanel(e) {
  const [a, b] = [edges.source[e], edges.target[e]];
  const found = playersOfEdge(a, b);
  const paths = found.filter((path) => !quiet(path));
  const all = [a, b].every((k) => k < nodes.listed && !groups.left_roots[k] && playersOf(k).every((group) => group.count === group.paths.length));
  const still = found.length - paths.length;
  return [
    make("h3", {}, "Edge ", nodeLink(a), edges.between, nodeLink(b)),
    headline(edges, e),
    facts([["Classes", `${className(a)} and ${className(b)}`], ["Within class", signed(edges.within_class[e])], ...validation(edges, e)]),
    a >= drawn || b >= drawn ? make("p", { class: "note" }, "The graph does not show both ends of this edge.") : null,
    make("h4", {}, all ? "Players whose last step is this edge" : "Strong players whose last step is this edge"),
    make("ul", {}, ...paths.map(pathItem)),
    still ? make("p", { class: "note" }, `${counted(still, paths.length ? "further path" : "path")} did not change the model in any order.`) : null,
    all ? null : make("p", { class: "note" }, found.length ? "This page may not list all of them. All players are in players.npz." : "This page does not list them. All players are in players.npz."),
  ].filter(Boolean);
}

function emptyPanel() {
  return [
    make("h3", {}, "Players that make up a value"),
    make("p", {}, "Choose a node in the graph, by its id, or in the table of nodes. This panel then shows the labelled nodes and paths through which it helps or harms the model."),
    make("p", { class: "note" }, "A path begins at a labelled node. “Unclear” means that the 95% interval of the value contains zero, or is unknown."),
  ];
}
