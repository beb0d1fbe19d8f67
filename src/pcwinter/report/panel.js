// A chosen node or edge -> the players behind its value, in words; and the paths that the graph view highlights.

/** The embedded players of a listed node: per labelled node its sum and its paths, each a list of nodes. */
function playersOf(k) {
  const found = [];
  if (k >= nodes.listed) return found;
  for (let g = groups.begin[k]; g < groups.begin[k + 1]; g++) {
    const paths = [];
    for (let p = groups.first[g]; p < groups.first[g + 1]; p++) {
      const inner = groups.inner.slice(p * groups.width, (p + 1) * groups.width).filter((step) => step >= 0);
      const root = groups.root[g];
      paths.push({ steps: root === k ? [k] : [root, ...inner, k], value: groups.value[p], stderr: groups.stderr[p] });
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
  const figure = make("span", { class: "figure" }, make("span", { class: tone(path.value) }, spoken(path.value, path.stderr)), ` ${withError(path.value, path.stderr, digits)}`);
  return make("li", {}, way, figure);
}

function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact)]));
}

/** Whether a path never changed the model in any order, as far as the digits tell. */
const quiet = (path) => path.value === 0 && !path.stderr;

function groupSection(group) {
  const digits = decimals + 1;
  const heading = make("p", { class: "through" }, make("span", {}, "Through ", make("strong", {}, nodeLink(group.root)), `, class ${className(group.root)}`),
    make("span", { class: "figure" }, make("span", { class: tone(group.total) }, verdict(group.total)), ` ${signed(group.total, digits)}`));
  const paths = group.paths.filter((path) => !quiet(path));
  const further = group.count - paths.length;
  return make("div", { class: "root" }, heading, make("ul", {}, ...paths.map(pathItem)),
    further ? make("p", { class: "note" }, `and ${counted(further, "weaker path")}, together ${signed(group.rest, digits)}`) : null);
}

function headline(value, stderr) {
  return make("p", { class: "big" }, withError(value, stderr), " ", make("span", { class: tone(value) }, spoken(value, stderr)));
}

const validation = (table, k) => (table.stderr_validation ? [["± validation", plain(table.stderr_validation[k])]] : []);

function nodePanel(k) {
  const found = playersOf(k);
  const missing = k >= drawn ? "It is not among the nodes that are drawn." : "";
  const parts = [
    make("h3", {}, `Node ${shown(nodes.id[k])}`),
    headline(nodes.value[k], nodes.stderr[k]),
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
    parts.push(make("p", { class: "note" }, "Its players are not in this page, which holds those of the strongest nodes. All are in players.npz."));
    return parts;
  }
  parts.push(make("h4", {}, "Players behind the value, by labelled node"));
  const loud = found.filter((group) => !group.paths.every(quiet));
  parts.push(...loud.map(groupSection));
  if (!found.length) parts.push(make("p", { class: "note" }, "It has no player that can change the model."));
  const left = [];
  const leftRoots = groups.left_roots[k] + found.length - loud.length;
  if (leftRoots) {
    const paths = found.filter((group) => !loud.includes(group)).reduce((sum, group) => sum + group.count, groups.left_paths[k]);
    left.push(`${counted(paths, "path")} from ${counted(leftRoots, loud.length ? "further labelled node" : "labelled node")}, together ${signed(groups.left_total[k], decimals + 1)}.`);
  }
  if (groups.null[k]) left.push(`${counted(groups.null[k], "null player")}: walks that add no edge, worth exactly 0 by definition.`);
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
    make("h3", {}, "Edge ", nodeLink(a), " – ", nodeLink(b)),
    headline(edges.value[e], edges.stderr[e]),
    facts([["Classes", `${className(a)} and ${className(b)}`], ...validation(edges, e)]),
    a >= drawn || b >= drawn ? make("p", { class: "note" }, "Not both of its ends are among the nodes that are drawn.") : null,
    make("h4", {}, all ? "Players whose last step is this edge" : "Strong players whose last step is this edge"),
    make("ul", {}, ...paths.map(pathItem)),
    still ? make("p", { class: "note" }, `${counted(still, paths.length ? "further path" : "path")} that changed the model in no order.`) : null,
    all ? null : make("p", { class: "note" }, `${found.length ? "More of them may be" : "They are"} in players.npz only.`),
  ].filter(Boolean);
}

function emptyPanel() {
  return [
    make("h3", {}, "Players behind a value"),
    make("p", {}, "Choose a node, in the graph, by its id or in the table of nodes: here you will see through which labelled nodes it helps or harms, and along which paths."),
    make("p", { class: "note" }, "A path begins at a labelled node. “Unclear” means that the value is within two standard errors of zero."),
  ];
}
