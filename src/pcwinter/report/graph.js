// The graph view: a canvas that responds to mouse, touch and keyboard.

const canvas = get("canvas");
const pen = canvas.getContext("2d");
const view = { scale: 1, x: 0, y: 0, width: 0, height: 0 }; // screen = drawing * scale + (x, y), in CSS pixels
const chosen = { node: -1, edge: -1, ends: [], paths: [], lit: new Set() };
let hovered = -1;
let palette = {};
const strength = Math.max(...nodes.value.slice(0, drawn).map(Math.abs), 0) || 1;

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "surface", "ink", "muted", "edge", "pos", "neg", "zero", "accent"]) palette[name] = style.getPropertyValue(`--${name}`).trim();
}

/** Grey at 0, then the colour of the sign. The square root makes small values visible. */
function colour(value) {
  const share = Math.sqrt(Math.min(1, Math.abs(value) / strength));
  const [from, to] = [palette.zero, value < 0 ? palette.neg : palette.pos].map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  return `rgb(${from.map((c, k) => Math.round(c + (to[k] - c) * share)).join(",")})`;
}

const radius = (k) => (3.2 + 5.5 * Math.sqrt(Math.abs(nodes.value[k]) / strength)) * Math.min(1.8, Math.max(0.5, Math.sqrt(view.scale / 22)));
const place = (k) => [drawing.x[k] * view.scale + view.x, drawing.y[k] * view.scale + view.y];

/** Fit all drawn nodes, or some of them, into the view. */
function fit(some = drawing.x.map((_, k) => k), margin = 24, largest = 120) {
  const [xs, ys] = [some.map((k) => drawing.x[k]), some.map((k) => drawing.y[k])];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  view.scale = Math.min((view.width - 2 * margin) / Math.max(right - left, 1e-9), (view.height - 2 * margin) / Math.max(bottom - top, 1e-9), largest);
  view.x = (view.width - (left + right) * view.scale) / 2;
  view.y = (view.height - (top + bottom) * view.scale) / 2;
}

function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const scale = Math.min(400, Math.max(0.5, view.scale * factor));
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  draw();
}

function resize() {
  const box = canvas.getBoundingClientRect();
  if (!box.width || !box.height) return;
  const first = !view.width;
  const ratio = window.devicePixelRatio || 1;
  const [dx, dy] = [(box.width - view.width) / 2, (box.height - view.height) / 2];
  Object.assign(view, { width: box.width, height: box.height });
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  if (first) fit();
  else { view.x += dx; view.y += dy; }
  draw();
}

function stroke(a, b) {
  pen.beginPath();
  pen.moveTo(...place(a));
  pen.lineTo(...place(b));
  pen.stroke();
}

function drawNode(k, faint) {
  const [x, y] = place(k);
  if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20) return;
  const r = radius(k);
  pen.globalAlpha = faint ? 0.3 : 1;
  pen.beginPath();
  if (nodes.labelled[k]) pen.rect(x - r, y - r, 2 * r, 2 * r);
  else pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fillStyle = colour(nodes.value[k]);
  pen.fill();
  pen.strokeStyle = nodes.labelled[k] ? palette.ink : palette.surface;
  pen.lineWidth = nodes.labelled[k] ? 1.6 : 1;
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawRing(k, width) {
  const [x, y] = place(k);
  pen.beginPath();
  pen.arc(x, y, radius(k) * (nodes.labelled[k] ? 1.42 : 1) + 4, 0, 2 * Math.PI);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = width;
  pen.stroke();
}

/** Write an id next to its node, unless it would cover another id. */
function drawLabel(k, words, taken) {
  const [x, y] = place(k);
  const width = pen.measureText(words).width;
  const left = Math.min(Math.max(4, x + radius(k) + 6), Math.max(4, view.width - width - 4));
  const top = y - radius(k) - 16;
  if (taken.some((other) => left < other.left + other.width + 4 && other.left < left + width + 4 && Math.abs(top - other.top) < 17)) return;
  taken.push({ left, top, width });
  pen.strokeStyle = palette.surface;
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.strokeText(words, left, y - radius(k) - 3);
  pen.fillStyle = palette.ink;
  pen.fillText(words, left, y - radius(k) - 3);
}

function draw() {
  const ratio = canvas.width / view.width;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  const some = chosen.lit.size > 0;
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 1;
  pen.globalAlpha = some ? 0.18 : drawing.source.length > 1500 ? 0.28 : 0.55;
  drawing.source.forEach((a, k) => stroke(a, drawing.target[k]));
  pen.globalAlpha = 1;
  for (let k = drawn - 1; k >= 0; k--) if (!chosen.lit.has(k)) drawNode(k, some);
  pen.lineCap = "round";
  for (const path of [...chosen.paths].reverse()) {
    pen.strokeStyle = path.value < 0 ? palette.neg : path.value > 0 ? palette.pos : palette.muted;
    pen.setLineDash(path.value < 0 ? [7, 6] : []);
    const here = path.steps.filter((step) => step < drawn);
    for (let k = 1; k < here.length; k++) {
      const step = path.steps.indexOf(here[k]) - path.steps.indexOf(here[k - 1]) === 1; // otherwise the path passes through nodes that are not drawn
      pen.lineWidth = step && path.value !== 0 ? 3.5 : 1.2;
      stroke(here[k - 1], here[k]);
    }
  }
  pen.setLineDash([]);
  for (const k of chosen.lit) if (k < drawn) drawNode(k, false);
  pen.font = "13px system-ui, sans-serif";
  const named = new Set(chosen.ends);
  for (const path of chosen.paths.slice(0, 12)) named.add(path.steps[0]);
  for (const k of chosen.ends) if (k < drawn) drawRing(k, 2.5);
  const taken = [];
  if (hovered >= 0) {
    drawRing(hovered, 1);
    drawLabel(hovered, `${short(nodes.id[hovered])}  ${signed(nodes.value[hovered])}`, taken);
  }
  for (const k of named) if (k < drawn && k !== hovered) drawLabel(k, short(nodes.id[k]), taken);
}

/** The nearest node within reach of a point, or -1. */
function nodeAt(x, y, reach = 8) {
  let [best, least] = [-1, Infinity];
  for (let k = 0; k < drawn; k++) {
    const [px, py] = place(k);
    const gap = Math.hypot(px - x, py - y) - radius(k);
    if (gap < least) [best, least] = [k, gap];
  }
  return least <= reach ? best : -1;
}

/** Highlight nodes and paths. With `near`, zoom to them; otherwise move the view only if an end is outside it. */
function light(ends, paths, near) {
  chosen.ends = ends;
  chosen.paths = paths;
  chosen.lit = new Set([...ends, ...paths.flatMap((path) => path.steps)]);
  const here = ends.filter((k) => k < drawn);
  if (here.length && near) fit([...chosen.lit].filter((k) => k < drawn), 70, 80);
  else if (here.length) {
    const outside = here.some((k) => { const [x, y] = place(k); return x < 24 || y < 24 || x > view.width - 24 || y > view.height - 24; });
    if (outside) {
      const middle = here.map(place).reduce(([x, y], [px, py]) => [x + px / here.length, y + py / here.length], [0, 0]);
      view.x += view.width / 2 - middle[0];
      view.y += view.height / 2 - middle[1];
    }
  }
  draw();
}

function showPanel(parts, words) {
  const within = get("panel").contains(document.activeElement); // on a link that is about to be removed
  get("panel").replaceChildren(...parts.filter(Boolean));
  if (within) get("panel").focus({ preventScroll: true });
  get("panel").classList.toggle("empty", !words);
  get("panel").scrollTop = 0;
  get("said").textContent = words;
}

function chooseNode(k, near = false) {
  Object.assign(chosen, { node: k, edge: -1 });
  showPanel(nodePanel(k), `Node ${shown(nodes.id[k])}: ${withError(nodes.value[k], nodes.stderr[k])}, ${spoken(nodes.value[k], nodes.unclear[k])}; ${counted(nodes.players[k], "player")}.`);
  light([k], playersOf(k).flatMap((group) => group.paths).sort((p, q) => Math.abs(q.value) - Math.abs(p.value)), near);
  markRows();
}

function chooseEdge(e) {
  Object.assign(chosen, { node: -1, edge: e });
  const ends = [edges.source[e], edges.target[e]];
  showPanel(edgePanel(e), `Edge ${ends.map((k) => shown(nodes.id[k])).join(edges.between)}: ${withError(edges.value[e], edges.stderr[e])}, ${spoken(edges.value[e], edges.unclear[e])}.`);
  light(ends, [{ steps: ends, value: edges.value[e] }], true);
  markRows();
}

function clearSelection() {
  Object.assign(chosen, { node: -1, edge: -1 });
  showPanel(emptyPanel(), "");
  light([], [], false);
  markRows();
}

/** The next node in a direction: close, and preferably straight ahead. */
function neighbour(dx, dy) {
  const from = chosen.node >= 0 && chosen.node < drawn ? place(chosen.node) : null;
  if (!from) return nodeAt(view.width / 2, view.height / 2, Infinity);
  let [best, least] = [-1, Infinity];
  for (let k = 0; k < drawn; k++) {
    if (k === chosen.node) continue;
    const [x, y] = place(k);
    const ahead = (x - from[0]) * dx + (y - from[1]) * dy;
    const aside = Math.abs((x - from[0]) * dy) + Math.abs((y - from[1]) * dx);
    if (ahead > 0 && aside <= 2 * ahead && ahead + 2 * aside < least) [best, least] = [k, ahead + 2 * aside];
  }
  return best;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (arrow && event.shiftKey) { view.x -= arrow[0] * 60; view.y -= arrow[1] * 60; draw(); }
  else if (arrow) { const k = neighbour(...arrow); if (k >= 0) chooseNode(k); }
  else if (event.key === "+" || event.key === "=") zoom(1.3);
  else if (event.key === "-" || event.key === "−") zoom(1 / 1.3);
  else if (event.key === "0") { fit(); draw(); }
  else if (event.key === "Enter") { if (chosen.node >= 0 || chosen.edge >= 0) get("panel").focus(); }
  else if (event.key === "Escape") clearSelection();
  else return;
  event.preventDefault();
}

function listen() {
  const fingers = new Map(); // pointers that are down
  let moved = 0;
  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const spread = () => { const [a, b] = [...fingers.values()]; return { gap: Math.hypot(a[0] - b[0], a[1] - b[1]), x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 }; };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, at(event));
    moved = fingers.size > 1 ? Infinity : 0;
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const last = fingers.get(event.pointerId);
    if (!last) {
      const k = nodeAt(x, y, 4);
      if (k !== hovered) { hovered = k; draw(); }
      return;
    }
    const before = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, [x, y]);
    if (before) {
      const now = spread();
      view.x += now.x - before.x;
      view.y += now.y - before.y;
      zoom(now.gap / Math.max(before.gap, 1), now.x, now.y);
    } else if (event.pointerType === "mouse") {
      moved += Math.hypot(x - last[0], y - last[1]);
      if (moved < 4) return;
      canvas.classList.add("moving");
      view.x += x - last[0];
      view.y += y - last[1];
      draw();
    }
  });
  const up = (event) => {
    const was = fingers.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (!was || event.type !== "pointerup" || moved >= 4) return;
    const k = nodeAt(...at(event), event.pointerType === "mouse" ? 6 : 16);
    if (k >= 0) chooseNode(k);
    else if (chosen.node >= 0 || chosen.edge >= 0) clearSelection();
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { if (hovered >= 0) { hovered = -1; draw(); } });
  // The wheel scrolls the page until the graph has been clicked, so that scrolling past the graph does not zoom it.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
  }, { passive: false });
  canvas.addEventListener("keydown", onKey);
  get("panel").addEventListener("keydown", (event) => { if (event.key === "Escape") { clearSelection(); canvas.focus(); } });
  get("zoom-in").addEventListener("click", () => zoom(1.4));
  get("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
  get("zoom-fit").addEventListener("click", () => { fit(); draw(); });
}

function drawScale() {
  const bar = get("scale");
  const [width, height] = [300, 24];
  Object.assign(bar, { width, height });
  const ink = bar.getContext("2d");
  for (let x = 0; x < width; x++) {
    const share = (2 * x) / (width - 1) - 1; // the colours are linear in the square root
    ink.fillStyle = colour(Math.sign(share) * share * share * strength);
    ink.fillRect(x, 0, 1, height);
  }
  get("scale-ends").textContent = `value from ${signed(-strength)} (harms) to ${signed(strength)} (helps)`;
}

/** The search box: suggests ids that contain the text, and chooses the one that matches. */
function listenToSearch() {
  const [field, offers] = [get("find"), get("found")];
  const matches = (limit) => {
    const typed = field.value.trim().toLowerCase();
    const found = [];
    for (let k = 0; k < nodes.id.length && typed && found.length < limit; k++) if (nodes.id[k].toLowerCase().includes(typed)) found.push(k);
    return found;
  };
  const go = () => {
    const exact = rowOf.get(field.value) ?? rowOf.get(field.value.trim());
    const k = exact ?? matches(1)[0];
    if (k === undefined) get("said").textContent = `No node in this page has an id that contains “${field.value}”.`;
    else {
      chooseNode(k, true);
      canvas.scrollIntoView({ block: "nearest" });
    }
  };
  field.addEventListener("input", () => offers.replaceChildren(...matches(20).map((k) => make("option", { value: nodes.id[k] }))));
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  get("find-button").addEventListener("click", go);
}
