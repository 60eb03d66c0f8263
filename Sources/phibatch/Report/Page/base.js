"use strict";
const byID = (id) => document.getElementById(id);
const report = JSON.parse(byID("report").textContent);

const SVG = "http://www.w3.org/2000/svg";
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  // Strings become text nodes: what comes from a file is never read as HTML.
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const count = (value) => whole.format(value);
const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many || one + "s"}`;
function amount(value) {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return count(value);
  return String(Number(value.toPrecision(size >= 10 ? 3 : 2)));
}
function short(value) {
  if (value >= 1e9) return amount(value / 1e9) + " G";
  if (value >= 1e6) return amount(value / 1e6) + " M";
  if (value >= 1e4) return amount(value / 1e3) + " k";
  return amount(value);
}
function duration(seconds) {
  if (seconds < 60) return amount(seconds) + " s";
  const two = (value, size, large, small) => {
    const rest = value % size;
    return `${Math.floor(value / size)} ${large}` + (rest ? ` ${rest} ${small}` : "");
  };
  if (seconds < 3600) return two(Math.round(seconds), 60, "min", "s");
  if (seconds < 48 * 3600) return two(Math.round(seconds / 60), 60, "h", "min");
  return two(Math.round(seconds / 3600), 24, "d", "h");
}
const clip = (text, most) => (text.length > most ? text.slice(0, Math.max(1, most)) + "…" : text);
const percent = (part, all) =>
  part === all ? "100%" : part / all < 0.001 ? "under 0.1%" : ((100 * part) / all).toFixed(1) + "%";

const times = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium", timeStyle: "medium", timeZone: "UTC",
});
const moment = (seconds) => times.format(new Date(seconds * 1000)) + " UTC";

/* A table that says in words and numbers what a chart shows. */
function dataTable(name, heads, rows, texts = [0]) {
  const cell = (tag, value, column) =>
    el(tag, { class: texts.includes(column) ? null : "n", scope: tag === "th" ? "col" : null }, String(value));
  const table = el("table", null,
    el("caption", { class: "hidden" }, name),
    el("thead", null, el("tr", null, ...heads.map((head, i) => cell("th", head, i)))),
    el("tbody", null, ...rows.map((row) => el("tr", null, ...row.map((value, i) => cell("td", value, i))))));
  return table;
}

function dataDetails(name, heads, rows) {
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name });
  const details = el("details", null, el("summary", null, "Numbers", el("span", { class: "hidden" }, " of: " + name)), box);
  // Made when it is wanted: most are never opened.
  details.addEventListener("toggle", () => {
    if (!box.firstChild) box.append(dataTable(name, heads, rows));
  });
  return details;
}

function showHead() {
  document.title = report.name + " – phibatch report";
  byID("title").append("Results of ", report.name);
  const about = byID("about");
  if (report.state !== "complete") {
    about.append(el("span", { class: "badge warn" }, "Not finished"), " ");
  }
  about.append([report.model, "report made " + moment(report.made)].filter(Boolean).join(" · "));
  byID("footer").append(`Made by phibatch ${report.version}. This page is one file; it loads nothing.`);
}

function showCards() {
  const { results, lines, failed, throughput } = report;
  const card = (name, value, more, kind) =>
    byID("cards").append(el("div", { class: "card" }, el("dt", null, name),
      el("dd", { class: kind }, value), more ? el("dd", null, more) : null));
  card("Results", count(results), lines === results ? null : "of " + plural(lines, "line"));
  card("Failed", count(failed), failed ? percent(failed, results) : null, failed ? "bad" : null);
  card("Prompt tokens", short(report.prompt_tokens), report.lengths.prompt && "median " + count(report.lengths.prompt.p50));
  card("Completion tokens", short(report.completion_tokens),
    report.lengths.completion && "median " + count(report.lengths.completion.p50));
  if (throughput) {
    card("Tokens a second", amount(throughput.tokens / throughput.busy), "completion tokens, all requests");
    const breaks = throughput.last - throughput.first - throughput.busy;
    card("Time", duration(throughput.busy), breaks > 2 * throughput.width ? "and " + duration(breaks) + " of breaks" : null);
  } else if (report.latency.total) {
    card("Seconds a result", amount(report.latency.total.p50), "median");
  }
}

function showNotes() {
  const notes = byID("notes");
  notes.hidden = report.notes.length === 0;
  notes.append(...report.notes.map((note) => el("li", null, note)));
}

function showSettings() {
  byID("settings").hidden = report.settings.length === 0;
  byID("settings-rows").append(...report.settings.map(([name, value]) =>
    el("tr", null, el("td", { class: "mono" }, name), el("td", { class: "mono" }, value))));
}
