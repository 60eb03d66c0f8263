const detail = byID("detail");

/* Text in which the terms of the search stand out. */
function marked(text) {
  if (!view.terms.length) return [text];
  const pattern = view.terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|");
  let matches;
  try { matches = text.matchAll(new RegExp(pattern, "gi")); } catch { return [text]; }
  const nodes = [];
  let end = 0;
  for (const match of matches) {
    if (nodes.length > 2000) break;
    nodes.push(text.slice(end, match.index), el("mark", null, match[0]));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

function openDetail(position) {
  view.active = position;
  const row = view.order[position];
  const texts = textOf(row);
  const more = texts.more || {};
  const status = statusOf(row);
  byID("detail-title").replaceChildren(rows.id[row] + (rows.sample[row] > 0 ? ` #${rows.sample[row]}` : ""), " ",
    el("span", { class: "badge" + (status.error ? " bad" : "") }, status.name));
  const inside = byID("inside");
  const nodes = [];
  const block = (title, text, bad) => {
    if (text === null || text === undefined) return;
    nodes.push(el("h3", null, title), el("pre", { class: bad ? "bad" : null }, ...marked(text)));
  };
  const cut = (name) => (more.cut && more.cut[name] ? ` (the first part of ${count(more.cut[name])} bytes)` : "");
  block("Prompt" + cut("prompt"), texts.prompt);
  if (hasPrompts && texts.prompt === null) nodes.push(el("h3", null, "Prompt"), el("p", { class: "muted" }, more.no_prompt || "Not in the input."));
  block("Error", texts.error, true);
  block("Answer" + cut("text"), texts.text);
  const facts = [];
  const fact = (name, value) => { if (value !== undefined && value !== null && !Number.isNaN(value)) facts.push([name, value]); };
  fact("Line", Number.isNaN(rows.line[row]) ? null : count(rows.line[row]));
  fact("Prompt tokens", Number.isNaN(rows.prompt[row]) ? null : count(rows.prompt[row]));
  fact("Completion tokens", Number.isNaN(rows.completion[row]) ? null : count(rows.completion[row]));
  fact("Seed", more.seed);
  if (more.timing) {
    const [queued, prefill, decode, speed, ended] = more.timing;
    fact("Seconds", `${queued} waiting, ${prefill} prefill, ${decode} decode`);
    fact("Tokens a second", amount(speed));
    if (ended) fact("Ended", moment(ended));
  }
  for (const [name, value] of more.facts || []) fact(name, value);
  nodes.push(el("h3", null, "Facts"), el("table", null, el("tbody", null, ...facts.map(([name, value]) =>
    el("tr", null, el("th", { scope: "row" }, name), el("td", null, ...marked(String(value))))))));
  inside.replaceChildren(...nodes);
  inside.scrollTop = 0;
  byID("previous").disabled = position === 0;
  byID("next").disabled = position === view.order.length - 1;
  if (!detail.open) detail.showModal();
  // A button that can't be pressed any more loses the focus.
  if (document.activeElement === document.body || document.activeElement.disabled) byID("close").focus();
}

function step(by) {
  const position = view.active + by;
  if (position >= 0 && position < view.order.length) openDetail(position);
}

byID("previous").addEventListener("click", () => step(-1));
byID("next").addEventListener("click", () => step(1));
byID("close").addEventListener("click", () => detail.close());
detail.addEventListener("click", (event) => { if (event.target === detail) detail.close(); });
detail.addEventListener("close", () => activate(view.active, true));
detail.addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "ArrowRight") step(1);
});

const moves = {
  ArrowDown: () => 1, ArrowUp: () => -1, Home: () => -Infinity, End: () => Infinity,
  PageDown: () => Math.floor(viewHeight() / rowHeight()), PageUp: () => -Math.floor(viewHeight() / rowHeight()),
};
body.addEventListener("keydown", (event) => {
  if (event.target.position === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter" || event.key === " ") openDetail(event.target.position);
  else if (moves[event.key]) activate(event.target.position + moves[event.key](), true);
  else return;
  event.preventDefault();
});
body.addEventListener("click", (event) => {
  const node = event.target.closest("[role=row]");
  if (node && node.position !== undefined && getSelection().isCollapsed) openDetail(node.position);
});

/* ---- Sorting and filters ---- */

function sortBy(name, down) {
  view.sort = name;
  view.down = down;
  for (const head of byID("head").children) {
    const isIt = head.dataset.name === name;
    if (isIt) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    const arrow = head.querySelector(".arrow");
    if (arrow) arrow.textContent = isIt ? (down ? " ↓" : " ↑") : "";
  }
  byID("sort").value = name ? name + (down ? " down" : "") : "";
  update();
}

function filterBy(status) {
  view.filter = String(status);
  byID("filter").value = view.filter;
  update();
  byID("table").scrollIntoView();
  byID("filter").focus({ preventScroll: true });
}

function chooseField(number) {
  view.field = number;
  byID("field").value = String(number);
  [...byID("head").children].find((head) => head.dataset.name === "field").querySelector(".plain").firstChild.data = fieldName(sortable[number]);
  byID("values").replaceChildren(...sortable[number].values.map(([value]) => el("option", { value: "= " + value })));
  byID("value").value = "";
  view.condition = null;
  update();
}

function setUpFields() {
  for (const label of document.querySelectorAll(".of-field")) label.hidden = !sortable.length;
  if (!sortable.length) return;
  grid.classList.add("has-field");
  byID("field").append(...sortable.map((field, i) => el("option", { value: String(i) }, fieldName(field))));
  byID("field").addEventListener("change", (event) => chooseField(Number(event.target.value)));
  byID("value").addEventListener("input", (event) => { view.condition = conditionOf(event.target.value); update(); });
  chooseField(0);
}

function setUpTable() {
  readRows();
  if (!hasPrompts) grid.classList.add("no-prompts");
  grid.setAttribute("aria-colcount", columns.length);
  columns.forEach((column, i) => {
    const head = el("div", { role: "columnheader", "aria-colindex": i + 1, class: column.number ? "n" : null });
    if (column.name) {
      head.dataset.name = column.name;
      const button = el("button", { type: "button", class: "plain", title: column.full ? column.full : null },
        column.title, el("span", { class: "arrow", "aria-hidden": "true" }));
      if (column.full) button.setAttribute("aria-label", column.full);
      button.addEventListener("click", () => {
        const isIt = view.sort === column.name;
        // Up, down, and back to the input's order; numbers begin with the highest.
        const first = Boolean(column.number) && column.name !== "line";
        if (!isIt) sortBy(column.name, first);
        else if (view.down === first) sortBy(column.name, !first);
        else sortBy("", false);
      });
      head.append(button);
    } else {
      head.append(column.title);
    }
    byID("head").append(head);
  });
  const option = (value, text) => el("option", { value }, text);
  byID("filter").append(option("", "All"), ...(report.failed ? [option("failed", `All that failed (${count(report.failed)})`)] : []),
    ...report.statuses.map((status, i) => option(String(i), `${status.name} (${count(status.count)})`)));
  byID("sort").append(option("", "Order of the input"), ...columns.filter((column) => column.name).flatMap((column) => [
    option(column.name, (column.full || column.title) + ", up"), option(column.name + " down", (column.full || column.title) + ", down")]));
  byID("filter").addEventListener("change", (event) => { view.filter = event.target.value; update(); });
  byID("sort").addEventListener("change", (event) => {
    const [name, down] = event.target.value.split(" ");
    sortBy(name, down === "down");
  });
  setUpFields();
  let timer = 0;
  const look = () => { view.terms = termsOf(byID("query").value); update(); };
  byID("query").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 160); });
  byID("tools").addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); look(); });
  let waiting = false;
  grid.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; render(); });
  }, { passive: true });
  new ResizeObserver(() => render()).observe(grid);
  narrow.addEventListener("change", () => show(view.order));
  // A link may name a search: answers.html#q=rain.
  byID("query").value = new URLSearchParams(location.hash.slice(1)).get("q") || "";
  look();
  prepare(0);
}

document.addEventListener("DOMContentLoaded", setUpTable);
