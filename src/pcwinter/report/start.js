// Fill the page.

function repaint() {
  readPalette();
  drawScale();
  draw();
}

function start() {
  const lines = drawing.source.length;
  const parts = [];
  if (drawn < nodes.of) parts.push(`The graph shows ${firstNodes(drawn)}, out of ${counted(nodes.of, "node")}. Where a path passes through nodes that are not shown, its line is thin.`);
  if (lines < drawing.between) parts.push(`It shows the ${counted(lines, "edge")} with the largest absolute value, out of ${drawing.between.toLocaleString("en")} between these nodes.`);
  parts.push("Nodes are coloured and sized by value. Choose a node to see the players that make up its value.");
  get("graph-note").textContent = parts.join(" ");
  readPalette();
  startTables();
  listen();
  listenToSearch();
  new ResizeObserver(resize).observe(canvas);
  resize();
  drawScale();
  clearSelection();
  window.addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", repaint);
}

// For tests: the position of the node with this id, in CSS pixels from the corner of the canvas.
window.pcwinter = { position: (id) => (rowOf.get(id) < drawn ? place(rowOf.get(id)) : null) };
start();
