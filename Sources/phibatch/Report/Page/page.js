"use strict";
const byID = (id) => document.getElementById(id);
const report = JSON.parse(byID("report").textContent);

/* ---- Nodes: strings become text nodes, so nothing from a file is ever read as HTML ---- */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) if (value != null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child != null));
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const on = (id, event, act) => byID(id).addEventListener(event, act);
const button = (words, onclick, attributes) => Object.assign(el("button", { type: "button", ...attributes }, words), { onclick });
const text = (x, y, words, anchor, kind) => svg("text", { x, y, "text-anchor": anchor, class: kind }, words);

/* ---- Numbers ---- */
const count = (value) => Math.round(value).toLocaleString("en-US");
const plural = (value, one) => `${count(value)} ${one}${value === 1 ? "" : "s"}`;
const percent = (part, all) => (part && part / all < 0.001 ? "under 0.1%" : `${+((100 * part) / all).toFixed(1)}%`);
const clip = (words, most) => (words.length > most ? words.slice(0, Math.max(1, most)) + "…" : words);
function amount(value) {
  const size = Math.abs(value);
  return size >= 100 || Number.isInteger(value) ? count(value) : String(+value.toPrecision(size >= 10 ? 3 : 2));
}
function short(value) {
  const [size, name] = [[1e9, " G"], [1e6, " M"], [1e4, " k"]].find(([size]) => value >= size) || [1, ""];
  return amount(value / (size === 1e4 ? 1e3 : size)) + name;
}
function duration(seconds) {
  if (seconds < 60) return amount(seconds) + " s";
  const [unit, part, large, small] = seconds < 3600 ? [60, 1, "min", "s"] : seconds < 172800 ? [3600, 60, "h", "min"] : [86400, 3600, "d", "h"];
  const whole = Math.round(seconds / part) * part;
  return `${Math.floor(whole / unit)} ${large}` + (whole % unit ? ` ${(whole % unit) / part} ${small}` : "");
}
const moment = (seconds) =>
  Math.abs(seconds) < 8e12 ? new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC" : String(seconds);

/* The panels of a section, which shows once it has one. */
const panels = (id) => { byID(id).parentNode.hidden = false; return byID(id); };

/* A table; columns of `words` are texts, the others numbers. */
function table(name, heads, rows, words = [0]) {
  const cell = (tag) => (value, i) =>
    el(tag, { class: words.includes(i) ? null : "n", scope: tag === "th" ? "col" : null }, String(value));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, el("table", null,
    el("thead", null, el("tr", null, ...heads.map(cell("th")))),
    el("tbody", null, ...rows.map((row) => el("tr", null, ...row.map(cell("td")))))));
}
const panel = (place, title, about, ...more) =>
  place.append(el("div", { class: "panel wide" }, el("h3", null, title), about && el("p", { class: "muted" }, about), ...more));

/* A chart; draw(width, height) returns its nodes, again for each width of the window. */
const charts = [];
function chart(place, { title, about, label, height, draw, wide, more }) {
  const picture = svg("svg", { role: "img", "aria-label": `${title}: ${label}`, height });
  place.append(el("div", { class: "panel" + (wide ? " wide" : "") }, el("h3", null, title),
    about && el("p", { class: "muted" }, about), picture, more));
  charts.push(() => {
    const width = Math.max(200, picture.clientWidth);
    fill(picture, { viewBox: `0 0 ${width} ${height}` }, []).replaceChildren(...draw(width, height));
  });
  charts.at(-1)();
}
addEventListener("resize", () => { for (const draw of charts) draw(); });

/* Round numbers from 0 to at least the highest value. */
function ticks(highest, wanted) {
  const power = 10 ** Math.floor(Math.log10(highest / wanted || 1));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((step) => step * wanted >= highest * 0.999) || 1;
  return Array.from({ length: Math.ceil((highest / step) * 0.9999) + 1 }, (_, i) => i * step);
}

/* The axes of a chart: its inner box, the height of a value, and their nodes. */
function axes(width, height, highest, yName, xName) {
  const [left, right, top, bottom] = [52, width - 14, 20, height - 44];
  const list = ticks(highest, 3);
  const y = (value) => bottom - ((bottom - top) * value) / (list.at(-1) || 1);
  const nodes = list.flatMap((tick) => [
    svg("line", { class: tick ? "grid" : "axis", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
    text(left - 8, y(tick) + 4, short(tick), "end")]);
  nodes.push(text(0, 6, yName), text((left + right) / 2, height - 4, xName, "middle"));
  /* A column that says its number under the pointer. */
  const column = (x, wide, tip) =>
    svg("rect", { class: "hit", x, width: wide, y: top, height: bottom - top }, svg("title", null, tip));
  return { left, right, top, bottom, y, nodes, column };
}

/* Bars of equal width; those of a logarithmic scale span equal ratios. */
function histogram(place, title, data, unit, more) {
  if (!data) return;
  const named = (value) => amount(value) + (unit === "seconds" ? " s" : "");
  const span = ([from, to]) =>
    data.whole && to - from <= 1 ? amount(from) : `${amount(from)} to ${amount(data.whole ? to - 1 : to)}`;
  const { bins } = data;
  chart(place, {
    title, height: 210, more,
    about: `median ${named(data.p50)} · 90% up to ${named(data.p90)} · 99% up to ${named(data.p99)} · at most ${named(data.max)}`,
    label: `a histogram of ${plural(data.count, "result")}, from ${named(data.min)} to ${named(data.max)}, `
      + `mean ${named(data.mean)}, median ${named(data.p50)}`,
    draw(width, height) {
      const { left, right, top, bottom, y, nodes, column } = axes(
        width, height, Math.max(...bins.map((bin) => bin[2])), "results", unit + (data.log ? ", logarithmic" : ""));
      const step = (right - left) / bins.length;
      const each = Math.ceil(bins.length / Math.max(2, Math.floor((right - left) / 62)));
      bins.forEach((bin, i) => {
        const x = left + i * step;
        const tall = Math.max(bin[2] ? 1.5 : 0, bottom - y(bin[2]));
        nodes.push(svg("rect", { class: "bar", x: x + 0.5, width: Math.max(0.5, step - 1), y: bottom - tall, height: tall }),
          column(x, step, `${span(bin)} ${unit}: ${plural(bin[2], "result")}`));
        if (i % each === 0) nodes.push(text(x, bottom + 17, short(bin[0]), "middle"));
      });
      if (bins.length % each === 0) nodes.push(text(right, bottom + 17, short(bins.at(-1)[1]), "middle"));
      let last = -1e9;
      for (const [name, value] of [["p50", data.p50], ["p90", data.p90], ["p99", data.p99]]) {
        const i = Math.max(0, bins.findIndex((bin) => value < bin[1]));
        const x = left + (i + (value + (data.whole ? 0.5 : 0) - bins[i][0]) / (bins[i][1] - bins[i][0] || 1)) * step;
        if (x - last < 30) continue;
        last = x;
        nodes.push(svg("line", { class: "mark", x1: x, x2: x, y1: top - 2, y2: bottom }), text(x, top - 6, name, "middle", "name"));
      }
      return nodes;
    },
  });
}

/* Amounts by name, as bars below their names: rows of [name, count, is bad]. */
function bars(place, title, about, total, rows, more) {
  const line = 34;
  chart(place, {
    title, about, more, height: rows.length * line + 6, label: rows.map(([name, times]) => `${name} ${count(times)}`).join(", "),
    draw: (width) => rows.flatMap(([name, times, isBad], i) => [
      text(0, i * line + 13, clip(name, Math.floor(width / 7) - 24), null, "name"),
      text(width, i * line + 13, `${count(times)} · ${percent(times, total)}`, "end"),
      svg("rect", { class: "bar" + (isBad ? " bad" : ""), x: 0, y: i * line + 19, height: 7, rx: 2,
        width: Math.max(2, (width * times) / Math.max(...rows.map((row) => row[1]), 1)) })]),
  });
}

/* What a reader should know beside the numbers. */
function notes() {
  const { damaged, results, table, fields } = report;
  return [[report.state === "running", "A run is making these results: the page shows those that were there."],
    [report.state === "stopped", "The run was stopped before its end: the page shows what it has made."],
    [damaged, `Lines that are no results, and are left out: ${damaged}.`],
    [table.rows < results, `The table holds the first ${table.rows} of ${results} results; numbers and charts are of all.`],
    [!table.prompts && results, `Results have no prompts. "phibatch report RESULTS JOB" takes them from the job's input, and --input names one.`],
    [table.fields_cut, `Of the fields, ${fields.length} are looked at: the first that came.`],
    [table.without_prompt, `Results shown without a prompt, as the input has none, or not their line as it was: ${table.without_prompt}.`]].filter(([isSo]) => isSo);
}

function showHead() {
  document.title = report.name + " – phibatch report";
  byID("title").append("Results of " + report.name);
  byID("about").append(...(report.state === "complete" ? [] : [el("span", { class: "badge warn" }, "Not finished"), " "]),
    [report.model, "report made " + moment(report.made)].filter(Boolean).join(" · "));
  byID("footer").append(`Made by phibatch ${report.version}. This page is one file; it loads nothing.`);
  byID("notes").hidden = !notes().length;
  byID("notes").append(...notes().map(([, note]) => el("li", null, note)));
  const card = (name, value, more, kind) => byID("cards").append(el("div", { class: "card" }, el("dt", null, name),
    el("dd", { class: kind }, value), more && el("dd", null, more)));
  const { results, lines, failed, throughput, lengths, latency } = report;
  card("Results", count(results), lines === results ? null : "of " + plural(lines, "line"));
  card("Failed", count(failed), failed ? percent(failed, results) : null, failed ? "bad" : null);
  card("Prompt tokens", short(report.prompt_tokens), lengths.prompt && "median " + count(lengths.prompt.p50));
  card("Completion tokens", short(report.completion_tokens), lengths.completion && "median " + count(lengths.completion.p50));
  if (throughput) {
    const breaks = throughput.last - throughput.first - throughput.busy;
    card("Tokens a second", amount(throughput.tokens / throughput.busy), "completion tokens, all requests");
    card("Time", duration(throughput.busy), breaks > 2 * throughput.width ? `and ${duration(breaks)} of breaks` : null);
  } else if (latency.total) card("Seconds a result", amount(latency.total.p50), "median");
}

/* What answers and kept fields hold: a table of all fields, and a chart of each whose values differ. */
function showFields() {
  if (!report.fields.length) return;
  const place = panels("answers");
  const spread = (data, what) => `${amount(data.min)} to ${amount(data.max)}${what}, mean ${amount(data.mean)}, median ${amount(data.p50)}`;
  const about = (field) => field.numbers ? spread(field.numbers, "")
    : field.lengths && (field.distinct === null || !field.values.length) ? spread(field.lengths, " long")
    : field.values.slice(0, 4).map(([value, times]) => `${clip(value, 40)} (${count(times)})`).join(", ");
  panel(place, "Fields", null, table("Fields", ["Field", "kind", "values", "different", "what they are"],
    report.fields.map((field) => [fieldName(field), field.kinds.join(", "), count(field.count),
      field.distinct === null ? "many" : field.values.length ? count(field.distinct) : "", about(field)]), [0, 1, 4]));
  for (const field of report.fields.filter((field) => field.distinct !== 1 && !/(^|\.)p\(/.test(field.name)).slice(0, 40)) {
    const [title, few] = [fieldName(field), field.distinct !== null && field.distinct <= 12];
    const show = button("Filter by it", () => { chooseField(report.fields.indexOf(field)); byID("value").focus(); },
      { "aria-label": "Filter by " + title });
    const common = field.values.reduce((sum, value) => sum + value[1], 0);
    if (field.numbers && !few) histogram(place, title, field.numbers, title, show);
    else if (field.lengths && common < 0.2 * field.count) {
      const unit = field.kinds.includes("list") ? "elements" : "characters";
      histogram(place, `${title}: ${unit}`, field.lengths, unit, show);
    } else if (field.values.length) {
      bars(place, title, few ? null : `the most common of ${field.distinct === null ? "many; counts are at least these" : count(field.distinct)}`,
        field.count, field.values.slice(0, 12).map(([value, times]) => [value || "(empty)", times]), show);
    }
  }
}

/* How far rows got that have steps, where they were dropped, and how results ended. */
function showEnds() {
  const { funnel, results, failed, statuses } = report;
  if (funnel) {
    const place = panels("steps");
    bars(place, "Rows that each step made", null, results, [["all rows", results],
      ...funnel.steps.map((step) => [step.name, step.made]), ["accepted", funnel.accepted]]);
    panel(place, "Rows that each step dropped", "Duplicates are among the dropped."
      + (failed ? ` What failed, ${plural(failed, "row")}, is in none of these numbers.` : ""),
      table("Rows that each step dropped", ["Step", "made", "dropped", "share", "duplicates"], funnel.steps.map((step) =>
        [step.name, count(step.made), count(step.dropped), percent(step.dropped, step.made || 1), count(step.duplicates)])));
  }
  const place = panels("ends");
  const sorted = statuses.map((status, i) => ({ ...status, i })).sort((a, b) => b.count - a.count);
  bars(place, funnel ? "What became of rows" : "Finish reasons", null, results || 1,
    [...sorted.filter((status) => !status.error).map((status) => [status.name, status.count]), ...(failed ? [["failed", failed, true]] : [])]);
  const errors = sorted.filter((status) => status.error);
  place.append(el("div", { class: "panel" }, el("h3", null, "Errors"), errors.length ? null : el("p", null, "No result failed."),
    ...errors.flatMap(({ name, count: number, messages, i }) => [
      el("p", null, el("span", { class: "badge bad" }, name), ` ${plural(number, "result")} `,
        button("Show", () => {
          view.filter = byID("filter").value = String(i);
          update();
          byID("results").scrollIntoView();
        }, { "aria-label": "Show results with the error " + name })),
      el("ul", { class: "muted" }, ...messages.map(([message, times]) => el("li", null, `${count(times)} × ${message}`)))])));
}

function showThroughput() {
  const data = report.throughput;
  if (!data) return;
  const points = data.rates.map(([time, rate], i, all) => ({ time, rate, idle: i && time - all[i - 1][0] - data.width }));
  const [highest, mean] = [Math.max(...points.map((point) => point.rate)), data.tokens / data.busy];
  const isBreak = ({ idle }) => idle > data.width / 2;
  const breaks = points.filter(isBreak).length;
  const whole = points.length * data.width;
  chart(panels("throughput"), {
    title: "Completion tokens a second", wide: true, height: 260,
    about: `mean ${amount(mean)} · highest ${amount(highest)} over ${duration(data.width)} · from ${moment(data.first)} to `
      + moment(data.last) + (breaks ? ` · ${plural(breaks, "break")} left out` : ""),
    label: `over ${duration(data.busy)}: mean ${amount(mean)}, highest ${amount(highest)}, ${plural(breaks, "break")}`,
    draw(width, height) {
      const { left, right, top, bottom, y, nodes, column } = axes(
        width, height, highest, "tokens a second", "time since the start" + (breaks ? ", without the breaks" : ""));
      const step = (right - left) / points.length;
      points.forEach((point, i) => {
        const x = left + i * step;
        nodes.push(svg("rect", { class: "bar", x, width: step, y: y(point.rate), height: bottom - y(point.rate) }),
          column(x, step, `${amount(point.rate)} tokens a second, ${moment(point.time)}`
            + (isBreak(point) ? `, after a break of ${duration(point.idle)}` : "")));
        if (isBreak(point)) nodes.push(svg("line", { class: "break", x1: x, x2: x, y1: top, y2: bottom }));
      });
      // Ticks fall on whole seconds, minutes or hours.
      const unit = whole < 180 ? 1 : whole < 10800 ? 60 : 3600;
      for (const tick of ticks(whole / unit, width < 500 ? 3 : 7)) {
        const i = Math.round((tick * unit) / data.width);
        if (points[i]) nodes.push(text(left + i * step, bottom + 17, duration(tick * unit), "middle"));
      }
      return nodes;
    },
  });
}

function showLatency() {
  const { times, latency } = report;
  const kinds = [...times.filter(({ unit }) => unit === "seconds"),
    { title: "In all", name: "total", about: "from when it was ready to its end" }].filter(({ name }) => latency[name]);
  if (!kinds.length) return;
  const place = panels("latency");
  panel(place, "Seconds of each part", kinds.map(({ title, about }) => `${title}: ${about}`).join(". ") + ".",
    table("Seconds of each part", ["Part", "median", "90%", "99%", "most", "mean"], kinds.map(({ title, name }) =>
      [title, ...["p50", "p90", "p99", "max", "mean"].map((key) => amount(latency[name][key]))])));
  for (const { title, name } of kinds) histogram(place, "Seconds: " + title.toLowerCase(), latency[name], "seconds");
  for (const { title, name } of times.filter(({ unit }) => unit === "tokens a second")) {
    histogram(place, title + " of each result", latency[name], "tokens a second");
  }
}

/* ---- The table's rows: [id, line, sample, status, prompt, completion, seconds, values of fields ...] ---- */
const [ID, LINE, SAMPLE, STATUS, PROMPT, COMPLETION, SECONDS, VALUES] = [0, 1, 2, 3, 4, 5, 6, 7];
const PAGE = 100;
const rows = [];
/* Texts of rows, [prompt, answer, error, seed, timing, facts], as JSON until they are wanted. */
const pieces = [];
const textsOf = (row) => JSON.parse(pieces[Math.floor(row / report.table.piece)].json)[row % report.table.piece];

const fieldName = (field) => field.name + (field.of === "line" ? " (line)" : "");
const view = { order: [], at: 0, sort: "", down: false, terms: [], filter: "", field: 0, condition: null };
const statusOf = (row) => report.statuses[rows[row][STATUS]];
const idOf = (row) => rows[row][ID] + (rows[row][SAMPLE] > 0 ? " #" + rows[row][SAMPLE] : "");
const brief = (words) => String(words ?? "").slice(0, 400).replace(/\s+/g, " ").slice(0, 240);
const number = (place) => ({ key: (row) => rows[row][place], cell: (row) => (rows[row][place] === null ? "" : count(rows[row][place])) });
const columns = [
  { name: "line", title: "Line", kind: "n", ...number(LINE) },
  { name: "id", title: "Id", kind: "id", key: (row) => rows[row][ID], cell: (row) => button(brief(idOf(row)), null, { class: "plain" }) },
  { title: "Prompt", kind: "prompt", cell: (row, texts) => brief(texts[0]) },
  { title: "Answer", kind: "text", cell: (row, texts) => brief(texts[2] || texts[1]) },
  { name: "field", title: "Field", kind: "field", key: (row) => rows[row][VALUES + view.field], cell: (row) => brief(rows[row][VALUES + view.field]) },
  { name: "status", title: "End", kind: "status", key: (row) => statusOf(row).name,
    cell: (row) => el("span", { class: "badge" + (statusOf(row).error ? " bad" : "") }, statusOf(row).name) },
  { name: "prompt", title: "In", full: "Prompt tokens", kind: "n", ...number(PROMPT) },
  { name: "completion", title: "Out", full: "Completion tokens", kind: "n", ...number(COMPLETION) },
  { name: "seconds", title: "Seconds", kind: "n", key: (row) => rows[row][SECONDS], cell: (row) => rows[row][SECONDS]?.toFixed(2) ?? "" },
].filter(({ title }) => title === "Prompt" ? report.table.prompts : title !== "Field" || report.fields.length);

/* Whether a value is as a text says: ">= 4", "!= yes", or a part of it. Null for an empty text. */
function conditionOf(words) {
  const [, sign = "", rest] = /^\s*(>=|<=|!=|>|<|=)?\s*(.*?)\s*$/s.exec(words);
  if (!sign && !rest) return null;
  const test = { "": (a, b) => a === b || (typeof a === "string" && a.includes(b)), "=": (a, b) => a === b, "!=": (a, b) => a !== b,
    ">": (a, b) => a > b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, "<=": (a, b) => a <= b }[sign];
  const number = rest === "" ? NaN : Number(rest);
  return (value) => {
    const areNumbers = typeof value === "number" && !Number.isNaN(number);
    // Only values of one kind come one after the other.
    if (/[<>]/.test(sign) && !areNumbers && (typeof value !== "string" || !Number.isNaN(number))) return false;
    return test(areNumbers ? value : String(value).toLowerCase(), areNumbers ? number : rest.toLowerCase());
  };
}

/* Words, all of which must occur; words in quotes go together. */
const termsOf = (query) => [...query.toLowerCase().matchAll(/"([^"]+)"?|[^\s"]+/g)].map((match) => match[1] || match[0]);

/* The rows that have all terms, in order. Texts are opened for the first search. */
let open = 0;
function search(terms) {
  const found = [];
  for (const { start, json, folded } of pieces) {
    if (!folded.length) for (const [prompt, answer, error, , , facts] of JSON.parse(json)) {
      folded.push([rows[start + folded.length][ID], prompt, answer, error, ...facts.map((fact) => fact[1])].join("\n").toLowerCase());
    }
    folded.forEach((words, i) => { if (terms.every((term) => words.includes(term))) found.push(start + i); });
  }
  return found;
}

function update() {
  let list = view.terms.length ? search(view.terms) : [...rows.keys()];
  if (view.filter) list = list.filter((row) => (view.filter === "failed" ? statusOf(row).error : rows[row][STATUS] === +view.filter));
  if (view.condition) list = list.filter((row) => view.condition(rows[row][VALUES + view.field]));
  const column = columns.find(({ name }) => name === view.sort);
  const sign = view.down ? -1 : 1;
  // Rows without a value come last; equal ones stay in the input's order.
  if (column) list.sort((a, b) => {
    const [x, y] = [column.key(a), column.key(b)];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    if (typeof x !== typeof y) return typeof x < typeof y ? -sign : sign;
    return x < y ? -sign : x > y ? sign : a - b;
  });
  view.order = list;
  showPage(0);
  byID("count").textContent = list.length === rows.length ? plural(list.length, "result") : `${count(list.length)} of ${plural(rows.length, "result")}`;
  document.documentElement.dataset.shown = list.length;
}

/* The page of the table that begins with a place in the order. */
function showPage(first) {
  view.at = Math.max(0, first);
  const shown = view.order.slice(view.at, view.at + PAGE);
  byID("body").replaceChildren(...shown.map((row, i) => {
    const texts = textsOf(row);
    return Object.assign(el("tr", null, ...columns.map(({ kind, cell }) =>
      el("td", { class: kind + (kind === "text" && texts[2] ? " bad" : "") }, cell(row, texts)))),
      { onclick() { if (getSelection().isCollapsed) openDetail(view.at + i); } });
  }));
  byID("pages").hidden = view.order.length <= PAGE;
  byID("page").textContent = `${count(view.at + 1)} to ${count(view.at + shown.length)}`;
  byID("back").disabled = view.at === 0;
  byID("on").disabled = view.at + PAGE >= view.order.length;
}

function sortBy(name, down) {
  Object.assign(view, { sort: name, down });
  columns.forEach((column, i) => {
    const head = byID("head").children[i];
    head.removeAttribute("aria-sort");
    if (name && column.name === name) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    head.firstChild.textContent = (column.name === "field" ? fieldName(report.fields[view.field]) : column.title)
      + (name && column.name === name ? (down ? " ↓" : " ↑") : "");
  });
  update();
}

function chooseField(place) {
  Object.assign(view, { field: place, condition: null });
  byID("field").value = String(place);
  byID("value").value = "";
  byID("values").replaceChildren(...report.fields[place].values.map(([value]) => el("option", { value: "= " + value })));
  sortBy(view.sort, view.down);
}

function openDetail(place) {
  if (!(place in view.order)) return;
  open = place;
  const row = view.order[place];
  const [prompt, answer, error, seed, timing, kept] = textsOf(row);
  const [, line, , , prompts, completions] = rows[row];
  const timesOf = (unit) => report.times.filter((time) => time.unit === unit && timing[time.name] !== undefined);
  const facts = [["Line", line], ["Prompt tokens", prompts], ["Completion tokens", completions], ["Seed", seed],
    ["Seconds", timesOf("seconds").map(({ title, name }) => `${timing[name]} ${title.toLowerCase()}`).join(", ") || null],
    ...timesOf("tokens a second").map(({ title, name }) => [title, amount(timing[name])]),
    ...timesOf("seconds since 1970").map(({ title, name }) => [title, moment(timing[name])]), ...kept].filter((fact) => fact[1] != null);
  const blocks = [["Prompt", prompt], ["Error", error, true], ["Answer", answer]].filter((block) => block[1] !== null);
  byID("detail-title").replaceChildren(idOf(row), " ", columns.find(({ kind }) => kind === "status").cell(row));
  byID("inside").replaceChildren(
    ...blocks.flatMap(([title, words, isBad]) => [el("h3", null, title), el("pre", { class: isBad ? "bad" : null }, words)]),
    el("h3", null, "Facts"), el("table", null, el("tbody", null, ...facts.map(([name, value]) =>
      el("tr", null, el("th", { scope: "row" }, name), el("td", null, String(value)))))));
  byID("previous").disabled = place === 0;
  byID("next").disabled = place === view.order.length - 1;
  if (!byID("detail").open) byID("detail").showModal();
  byID("detail").scrollTop = 0;
}

function setUp() {
  document.querySelectorAll("script.rows").forEach((node) => { rows.push(...JSON.parse(node.textContent)); node.remove(); });
  document.querySelectorAll("script.texts").forEach((node, i) => {
    pieces.push({ start: i * report.table.piece, json: node.textContent, folded: [] });
    node.remove();
  });
  for (const { name, title, kind, full } of columns) {
    // Up, down, and back to the input's order; numbers begin with the highest.
    const first = kind === "n" && name !== "line";
    const next = () => (view.sort !== name ? [name, first] : view.down === first ? [name, !first] : ["", false]);
    byID("head").append(el("th", { class: kind, scope: "col" },
      name ? button(title, () => sortBy(...next()), { class: "plain", title: full }) : el("span", null, title)));
  }
  const option = (value, words) => el("option", { value }, words);
  byID("filter").append(option("", "All"), ...(report.failed ? [option("failed", `All that failed (${count(report.failed)})`)] : []),
    ...report.statuses.map((status, i) => option(String(i), `${status.name} (${count(status.count)})`)));
  on("filter", "change", (event) => { view.filter = event.target.value; update(); });
  byID("field").append(...report.fields.map((field, i) => option(String(i), fieldName(field))));
  on("field", "change", (event) => chooseField(+event.target.value));
  on("value", "input", (event) => { view.condition = conditionOf(event.target.value); update(); });
  for (const label of document.querySelectorAll(".of-field")) label.hidden = !report.fields.length;
  let timer = 0;
  const look = () => { clearTimeout(timer); view.terms = termsOf(byID("query").value); update(); };
  on("query", "input", () => { clearTimeout(timer); timer = setTimeout(look, 160); });
  on("tools", "submit", (event) => { event.preventDefault(); look(); });
  for (const [id, by] of [["back", -PAGE], ["on", PAGE]]) on(id, "click", () => { showPage(view.at + by); byID("results").scrollIntoView(); });
  for (const [id, by] of [["previous", -1], ["next", 1]]) on(id, "click", () => openDetail(open + by));
  on("close", "click", () => byID("detail").close());
  on("detail", "keydown", (event) => openDetail(open + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? NaN)));
  // Whole answers have a column already.
  if (report.fields.length) chooseField(Math.max(0, report.fields.findIndex(({ name }) => name !== "text"))); else update();
}

showHead();
showFields();
showEnds();
for (const [name, title] of [["prompt", "Prompt tokens"], ["completion", "Completion tokens"]]) {
  if (report.lengths[name]) histogram(panels("lengths"), title, report.lengths[name], "tokens");
}
showThroughput();
showLatency();
if (report.settings.length) {
  panel(panels("settings"), "What the results depend on", null, table("Settings", ["Name", "Value"], report.settings, [0, 1]));
}
addEventListener("DOMContentLoaded", setUp);
