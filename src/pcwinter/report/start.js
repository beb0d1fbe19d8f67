// Put it all on the page.

function repaint() {
  readPalette();
  drawScale();
  draw();
}

function start() {
  const lines = drawing.source.length;
  const parts = [];
  if (drawn < nodes.of) parts.push(`Of ${counted(nodes.of, "node")} ${firstNodes(drawn)} are drawn`);
  if (lines < drawing.between) parts.push(`${parts.length ? "of" : "Of"} the ${counted(drawing.between, "edge")} between them the ${lines.toLocaleString("en")} strongest are drawn`);
  get("graph-note").textContent = `${parts.length ? `${parts.join("; ")}. ` : ""}Nodes are coloured and sized by value; choose one to see the players behind it.`;
  readPalette();
  startTables();
  listen();
  listenToSearch();
  new ResizeObserver(resize).observe(canvas);
  resize();
  drawScale();
  letGo();
  window.addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", repaint);
}

// For tests and for the curious: where the node with this id is drawn, in CSS pixels from the corner of the canvas.
window.pcwinter = { position: (id) => (rowOf.get(id) < drawn ? place(rowOf.get(id)) : null) };
start();
