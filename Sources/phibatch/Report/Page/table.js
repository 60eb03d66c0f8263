const grid = byID("grid");
const body = byID("body");
const narrow = window.matchMedia("(max-width: 760px)");
const hasPrompts = report.table.prompts;
const sortable = report.fields.filter((field) => field.column !== null);
const fieldName = (field) => field.name + (field.of === "line" ? " (line)" : "");
const columns = [
  { name: "line", title: "Line", number: true, cell: "cell-number" },
  { name: "id", title: "Id", cell: "cell-id" },
  hasPrompts ? { title: "Prompt", cell: "cell-prompt" } : null,
  { title: "Answer", cell: "cell-answer" },
  sortable.length ? { name: "field", title: fieldName(sortable[0]), full: "Field", cell: "cell-field" } : null,
  { name: "status", title: "End", cell: "cell-status" },
  { name: "prompt", title: "In", full: "Prompt tokens", number: true },
  { name: "completion", title: "Out", full: "Completion tokens", number: true },
  { name: "seconds", title: "Seconds", number: true },
].filter(Boolean);
const view = { order: [], active: 0, sort: "", down: false, terms: [], filter: "", field: 0, condition: null, nodes: new Map() };
/* Browsers have no taller boxes than some ten million pixels; beyond this one, scrolling goes in larger steps. */
const TALLEST = 6000000;

const rowHeight = () => (narrow.matches ? 68 : 44);
const headHeight = () => (narrow.matches ? 0 : 42);
const bodyHeight = () => Math.min(TALLEST, view.order.length * rowHeight());
const viewHeight = () => grid.clientHeight - headHeight();
/* How far the rows' own height exceeds that of the box. */
const stretch = () => {
  const rest = bodyHeight() - viewHeight();
  return rest > 0 ? Math.max(1, (view.order.length * rowHeight() - viewHeight()) / rest) : 1;
};

function cellText(column, row, texts) {
  switch (column.cell || column.name) {
    case "cell-number": return Number.isNaN(rows.line[row]) ? "" : count(rows.line[row]);
    case "cell-id": return rows.id[row] + (rows.sample[row] > 0 ? " #" + rows.sample[row] : "");
    case "cell-prompt": return brief(texts.prompt);
    case "cell-field": return shown(fieldColumn(view.field)[row]);
    case "cell-answer": return brief(texts.error || texts.text);
    case "seconds": return Number.isNaN(rows.seconds[row]) ? "" : rows.seconds[row].toFixed(2);
    default: return Number.isNaN(rows[column.name][row]) ? "" : count(rows[column.name][row]);
  }
}
const shown = (value) => (value === null ? "" : typeof value === "number" ? String(value) : brief(String(value)));
const brief = (text) => (text ? text.slice(0, 400).replace(/\s+/g, " ").slice(0, 240) : "");

function makeRow(position) {
  const row = view.order[position];
  const texts = textOf(row);
  const status = statusOf(row);
  const node = el("div", { role: "row", class: "row", "aria-rowindex": position + 2, tabindex: position === view.active ? 0 : -1 });
  columns.forEach((column, i) => {
    const bad = status.error && column.cell === "cell-answer" ? " bad" : "";
    const cell = el("div", { role: "gridcell", "aria-colindex": i + 1, class: (column.cell || "n") + (column.number ? " n" : "") + bad });
    if (column.cell === "cell-status") cell.append(el("span", { class: "badge" + (status.error ? " bad" : "") }, status.name));
    else cell.append(cellText(column, row, texts));
    node.append(cell);
  });
  node.position = position;
  return node;
}

function render() {
  const height = rowHeight();
  const top = grid.scrollTop * stretch();
  const first = Math.max(0, Math.floor(top / height) - 6);
  const end = Math.min(view.order.length, Math.ceil((top + viewHeight()) / height) + 6);
  const focused = document.activeElement && document.activeElement.position;
  for (const [position, node] of view.nodes) {
    // The row that has the focus stays, or else the focus would be lost.
    if ((position < first || position >= end) && position !== focused) {
      node.remove();
      view.nodes.delete(position);
    }
  }
  let before = null;
  for (let position = first; position < end; position++) {
    let node = view.nodes.get(position);
    if (!node) {
      node = makeRow(position);
      view.nodes.set(position, node);
      if (before) before.after(node);
      else body.prepend(node);
    }
    before = node;
  }
  for (const [position, node] of view.nodes) {
    node.style.top = position * height - top + grid.scrollTop + "px";
    node.tabIndex = position === view.active ? 0 : -1;
  }
}

function scrollTo(position) {
  const height = rowHeight();
  const top = grid.scrollTop * stretch();
  let wanted = top;
  if (position * height < top) wanted = position * height;
  else if ((position + 1) * height > top + viewHeight()) wanted = (position + 1) * height - viewHeight();
  if (wanted !== top) grid.scrollTop = wanted / stretch();
}

function activate(position, focuses) {
  view.active = Math.max(0, Math.min(view.order.length - 1, position));
  scrollTo(view.active);
  render();
  if (focuses) view.nodes.get(view.active)?.focus({ preventScroll: true });
}

/* New rows: from the top. */
function show(order) {
  view.order = order;
  view.active = 0;
  for (const node of view.nodes.values()) node.remove();
  view.nodes.clear();
  body.replaceChildren();
  if (!order.length) body.append(el("div", { role: "row" }, el("div", { role: "gridcell", class: "empty" }, "No result is like that.")));
  body.style.height = order.length ? bodyHeight() + "px" : "auto";
  grid.classList.toggle("short", order.length * rowHeight() < Math.min(innerHeight * 0.72, 760) - headHeight());
  grid.setAttribute("aria-rowcount", order.length + 1);
  grid.scrollTop = 0;
  render();
}

const passes = (row) => (!view.condition || view.condition(fieldColumn(view.field)[row])) && passesStatus(row);
const passesStatus = (row) => view.filter === "" || (view.filter === "failed" ? statusOf(row).error : rows.status[row] === Number(view.filter));

function sorted(list) {
  const { sort, down } = view;
  if (!sort) return list;
  const sign = down ? -1 : 1;
  const value = sort === "id" ? (row) => rows.id[row] : sort === "status" ? (row) => statusOf(row).name
    : sort === "field" ? (row) => fieldColumn(view.field)[row] ?? NaN : (row) => rows[sort][row];
  // Rows without a value come last; equal ones stay in the input's order.
  const none = (x) => x !== x;
  return list.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (none(x) || none(y)) return none(x) - none(y) || a - b;
    if (typeof x !== typeof y) return typeof x < typeof y ? -sign : sign;
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

async function update() {
  const say = (text) => { byID("count").textContent = text; };
  const all = rows.count;
  let list;
  if (view.terms.length) {
    list = await search(view.terms, (done, found) => say(`Searching: ${count(found)} found in ${count(done)} of ${count(all)}`));
    if (list === null) return;
  } else {
    latestSearch += 1;
    list = Array.from({ length: all }, (_, row) => row);
  }
  if (view.filter || view.condition) list = list.filter(passes);
  show(sorted(list));
  say(list.length === all ? plural(all, "result") : `${count(list.length)} of ${plural(all, "result")}`);
  document.documentElement.dataset.shown = list.length;
}
