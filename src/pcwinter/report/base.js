// The data of the page, and functions that turn it into numbers and elements. Text enters the page only as textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const { nodes, edges, groups, drawing, classes, decimals } = data;
const drawn = drawing.x.length; // nodes 0..drawn-1 are in the graph view
const rowOf = new Map(nodes.id.map((id, k) => [id, k]));
const get = (id) => document.getElementById(id);

/** An element with attributes, listeners (onclick: f) and children, which are elements or text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== "").map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const counted = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
/** A description of the first n nodes. */
const firstNodes = (n) => (nodes.ahead ? `the ${counted(nodes.ahead, "labelled node")} and the ${(n - nodes.ahead).toLocaleString("en")} others with the largest absolute value` : `the ${counted(n, "node")} with the largest absolute value`);
const plain = (x, digits = decimals) => (x === null ? "–" : x.toFixed(digits));
/** A value with its sign; the minus sign has the width of a plus sign. */
const signed = (x, digits = decimals) => (x === null ? "–" : `${x > 0 ? "+" : x < 0 ? "−" : ""}${Math.abs(x).toFixed(digits)}`);
/** A value with its standard error, which may be unknown; without one if the run has no errors at all. */
const hasErrors = nodes.stderr.some((error) => error !== null);
const withError = (x, error, digits = decimals) => (hasErrors ? `${signed(x, digits)} ± ${error === null ? "unknown" : error.toFixed(digits)}` : signed(x, digits));
/** What the colour means, in words. */
const verdict = (x) => (x > 0 ? "helps" : x < 0 ? "harms" : "no effect");
const spoken = (x, unclear) => (unclear ? (x === 0 ? "unclear" : `${verdict(x)}, unclear`) : verdict(x));
const tone = (x) => (x > 0 ? "pos" : x < 0 ? "neg" : "");
const className = (k) => classes[nodes.kind[k]];
const short = (id) => (id.length > 24 ? `${id.slice(0, 23)}…` : id);
const shown = (id) => (id.trim() === "" ? `“${id}”` : id);

/** A link that chooses a node. */
function nodeLink(k, jump = false) {
  return make("a", { href: "#graph", class: "node", onclick: (event) => { if (!jump) event.preventDefault(); chooseNode(k, true); } }, shown(nodes.id[k]));
}
