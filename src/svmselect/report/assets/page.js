"use strict";
// Points tell their value: the nearest one to the pointer, or by arrow keys. Without this script
// the browser shows the same words itself, one point at a time.
for (const svg of document.querySelectorAll("svg.figure")) {
  const points = [];
  for (const node of svg.querySelectorAll(".pt")) {
    const title = node.querySelector("title");
    if (!title) continue;
    points.push({ node, x: +node.getAttribute("cx"), y: +node.getAttribute("cy"), words: title.textContent });
    title.remove();
  }
  if (!points.length) continue;
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[b].y - points[a].y);
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  svg.parentNode.append(tip);
  let current = -1;

  const hide = () => {
    if (current >= 0) points[current].node.classList.remove("on");
    current = -1;
    tip.hidden = true;
  };
  const show = (i) => {
    if (i === current) return;
    hide();
    current = i;
    const { node, x, y, words } = points[i];
    node.classList.add("on");
    tip.textContent = words;
    tip.hidden = false;
    const box = svg.getBoundingClientRect(), home = svg.parentNode.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    const left = box.left - home.left + x * scale, top = box.top - home.top + y * scale;
    const room = home.width - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(left - tip.offsetWidth / 2, room)) + "px";
    const above = top - tip.offsetHeight - 12;
    tip.style.top = (above >= 0 ? above : top + 14) + "px";
  };
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = -1, least = 40 * 40;
    points.forEach((p, i) => {
      const d = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (d <= least) { least = d; best = i; }
    });
    if (best < 0) hide(); else show(best);
  };
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    const at = current < 0 ? (step > 0 ? -1 : order.length) : order.indexOf(current);
    show(order[Math.max(0, Math.min(order.length - 1, at + step))]);
  });
}

// Commands have a button that copies them.
for (const block of document.querySelectorAll("pre")) {
  const words = block.textContent;
  const frame = document.createElement("div");
  frame.className = "copied";
  block.replaceWith(frame);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(words);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  frame.append(block, button);
}

// Tables with a heading that sorts.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.dataset.kind === undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    if (!head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const numeric = head.dataset.kind === "number";
      const before = head.getAttribute("aria-sort");
      const up = before === "none" ? !numeric : before === "descending";
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[column];
        return numeric ? +cell.dataset.value : cell.textContent.trim();
      };
      const rows = [...body.rows].sort((a, b) => {
        const one = key(a), other = key(b);
        const way = numeric ? one - other : one.localeCompare(other, undefined, { numeric: true });
        return up ? way : -way;
      });
      body.append(...rows);
      fold(table);
    });
  });
  if (body.rows.length > 15) {
    table.dataset.folded = "yes";
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.textContent = `Show all ${body.rows.length}`;
    more.addEventListener("click", () => {
      table.dataset.folded = table.dataset.folded === "yes" ? "no" : "yes";
      more.textContent = table.dataset.folded === "yes" ? `Show all ${body.rows.length}` : "Show fewer";
      fold(table);
    });
    table.after(more);
  }
  fold(table);
}

function fold(table) {
  const folded = table.dataset.folded === "yes";
  [...table.tBodies[0].rows].forEach((row, i) => row.classList.toggle("far", folded && i >= 12));
}
