/* What answers and kept fields hold: a table of all fields, and a chart of each whose values differ. */
function fieldsPanel() {
  if (!report.fields.length) return;
  byID("answers").hidden = false;
  const place = byID("fields");
  const many = (field) => (field.distinct === null ? "many" : field.values.length ? count(field.distinct) : "");
  const spread = (data, what) => `${amount(data.min)} to ${amount(data.max)}${what}, mean ${amount(data.mean)}, median ${amount(data.p50)}`;
  const about = (field) => field.numbers ? spread(field.numbers, "")
    : field.distinct === null || !field.values.length ? (field.lengths ? spread(field.lengths, " long") : "")
    : field.values.slice(0, 4).map(([value, times]) => `${clip(value, 40)} (${count(times)})`).join(", ");
  place.append(el("div", { class: "panel wide" }, el("h3", null, "Fields"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields" },
      dataTable("Fields", ["Field", "kind", "values", "different", "what they are"], report.fields.map((field) =>
        [field.name + (field.of === "line" ? " (of the line)" : ""), field.kinds.map((kind) => kind.name).join(", "),
          count(field.count), many(field), about(field)]), [0, 1, 4]))));
  const chance = (name, value) => report.fields.find((one) => one.name === name.replace(/class$/, `p(${value})`));
  report.fields.filter((field) => field.distinct !== 1 && !/(^|\.)p\(/.test(field.name)).slice(0, 40).forEach((field) => {
    const title = field.name + (field.of === "line" ? ", of the line" : "");
    const figure = chart(field, title);
    if (!figure || field.column === null) return;
    const show = el("button", { type: "button", class: "show" }, "Filter by it", el("span", { class: "hidden" }, ": " + title));
    show.addEventListener("click", () => {
      chooseField(field.column);
      byID("table").scrollIntoView();
      byID("value").focus({ preventScroll: true });
    });
    figure.append(show);
  });

  function chart(field, title) {
    const isFew = field.distinct !== null && field.distinct <= 12;
    if (field.numbers && !isFew) return histogram(place, { title, data: field.numbers, unit: title, of: "result" });
    const long = field.values.length && field.values.reduce((sum, value) => sum + value[1], 0) < 0.2 * field.count;
    if (field.lengths && (long || !field.values.length)) {
      const unit = field.kinds.some((kind) => kind.name === "list") ? "elements" : "characters";
      return histogram(place, { title: `${title}: ${unit}`, data: field.lengths, unit, of: "result" });
    }
    if (!field.values.length) return null;
    return nameBars(place, { title, label: title + ": ", total: field.count, of: "results",
      about: isFew ? null : (field.distinct === null ? "the most common; counts are at least these" : `the most common of ${count(field.distinct)}`),
      rows: field.values.slice(0, 12).map(([name, times]) => {
        const likely = /(^|\.)class$/.test(field.name) && chance(field.name, name);
        return { name: name || "(empty)", count: times, more: likely ? `mean p ${likely.numbers.mean.toFixed(2)} · ` : null };
      }) });
  }
}

/* How far rows got that have steps, and where they were dropped. */
function funnelPanel() {
  const data = report.funnel;
  if (!data) return;
  byID("row-steps").hidden = false;
  const place = byID("funnel");
  nameBars(place, { title: "Rows that each step made", label: "Rows that each step made: ", total: report.results, of: "rows",
    rows: [{ name: "all rows", count: report.results }, ...data.steps.map((step) => ({ name: step.name, count: step.made })),
      { name: "accepted", count: data.accepted }] });
  const table = dataTable("Rows that each step dropped", ["Step", "made", "dropped", "share", "duplicates"],
    data.steps.map((step) => [step.name, count(step.made), count(step.dropped),
      step.dropped ? percent(step.dropped, step.made) : "", count(step.duplicates)]));
  place.append(el("div", { class: "panel" }, el("h3", null, "Rows that each step dropped"),
    el("p", null, "Duplicates are among the dropped."
      + (report.failed ? ` What failed, ${plural(report.failed, "row")}, is in none of these numbers.` : "")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows that each step dropped" }, table)));
}

function throughputPanel() {
  const place = byID("throughput");
  const data = report.throughput;
  if (!data) {
    place.append(el("p", { class: "muted wide" }, report.results
      ? "These results don't say when they ended: those of earlier versions don't, nor has OpenAI's format a place for it."
      : "There are no results."));
    return;
  }
  const parts = data.parts.map(({ start, rates }) => rates.map((rate, i) => ({ rate, time: start + i * data.width })));
  const points = parts.flat();
  const highest = Math.max(...points.map((point) => point.rate));
  const breaks = parts.length - 1;
  const mean = data.tokens / data.busy;
  panel(place, {
    title: "Completion tokens a second", wide: true, height: 260,
    about: `mean ${amount(mean)} · highest ${amount(highest)} over ${duration(data.width)} · from ${moment(data.first)} to `
      + moment(data.last) + (breaks ? ` · ${plural(breaks, "break")} left out` : ""),
    label: `Completion tokens a second over ${duration(data.busy)}: mean ${amount(mean)}, highest ${amount(highest)}`
      + (breaks ? `, with ${plural(breaks, "break")}.` : "."),
    details: dataDetails("Completion tokens a second", ["from", "tokens a second"],
      points.map((point) => [moment(point.time), amount(point.rate)])),
    draw(width, height) {
      const { inner, y, nodes } = frame(width, height, highest, "tokens a second",
        breaks ? "time since the start, without the breaks" : "time since the start");
      const room = 14;
      const step = (inner.right - inner.left - room * breaks) / points.length;
      let x = inner.left;
      let passed = 0;
      const ticks = steps((points.length * data.width) / timeUnit(points.length * data.width), width < 500 ? 3 : 7)
        .map((tick) => tick * timeUnit(points.length * data.width));
      let tick = 0;
      parts.forEach((part, number) => {
        if (number > 0) {
          const idle = part[0].time - parts[number - 1].at(-1).time - data.width;
          nodes.push(svg("line", { class: "break", x1: x + room / 2, x2: x + room / 2, y1: inner.top, y2: inner.bottom }));
          nodes.push(svg("rect", { class: "hit", x, width: room, y: inner.top, height: inner.bottom - inner.top,
            "data-tip": `break of ${duration(idle)}` }));
          x += room;
        }
        let path = `M${x},${inner.bottom}`;
        let curve = "";
        const hits = [];
        for (const point of part) {
          while (tick < ticks.length && ticks[tick] <= passed + data.width * 0.001) {
            nodes.push(svg("text", { x, y: inner.bottom + 17, "text-anchor": tick ? "middle" : "start" }, duration(ticks[tick])));
            tick += 1;
          }
          const top = y(point.rate).toFixed(1);
          path += `L${x.toFixed(1)},${top}L${(x + step).toFixed(1)},${top}`;
          curve += `${curve ? "L" : "M"}${x.toFixed(1)},${top}L${(x + step).toFixed(1)},${top}`;
          hits.push(svg("rect", { class: "hit", x, width: step, y: inner.top, height: inner.bottom - inner.top,
            "data-tip": `${amount(point.rate)} tokens a second, ${moment(point.time)}` }));
          x += step;
          passed += data.width;
        }
        nodes.push(svg("path", { class: "area", d: `${path}L${x.toFixed(1)},${inner.bottom}Z` }));
        nodes.push(svg("path", { class: "curve", d: curve }), ...hits);
      });
      return nodes;
    },
  });
}

/* Ticks fall on whole seconds, minutes or hours. */
function timeUnit(seconds) {
  return seconds < 180 ? 1 : seconds < 3 * 3600 ? 60 : 3600;
}

function latencyPanel() {
  const place = byID("latency");
  const kinds = [
    ["Waiting", "queued", "from when a request was ready to its admission"],
    ["Prefill", "prefill", "from there to its first token"],
    ["Decode", "decode", "from there to its end"],
    ["In all", "total", "from when it was ready to its end"],
  ].filter(([, name]) => report.latency[name]);
  if (!kinds.length) {
    place.append(el("p", { class: "muted wide" }, "These results don't say how long they took."));
    return;
  }
  const table = dataTable("Seconds of each part, by percentile", ["Part", "median", "90%", "99%", "most", "mean"],
    kinds.map(([title, name]) => {
      const data = report.latency[name];
      return [title, ...[data.p50, data.p90, data.p99, data.max, data.mean].map(amount)];
    }));
  place.append(el("div", { class: "panel wide" }, el("h3", null, "Seconds of each part"),
    el("p", null, kinds.map(([title, , about]) => `${title}: ${about}`).join(". ") + "."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Seconds of each part" },
      fill(table, { class: "parts" }, []))));
  for (const [title, name] of kinds) {
    histogram(place, { title: title === "In all" ? "Seconds in all" : `Seconds of ${title.toLowerCase()}`,
      data: report.latency[name], unit: "s", of: "result" });
  }
  histogram(place, { title: "Tokens a second of each result", data: report.latency.speed, unit: "tokens a second", of: "result" });
}

function endsPanel() {
  const place = byID("ends");
  const total = report.results;
  const title = report.funnel ? "What became of rows" : "Finish reasons";
  nameBars(place, { title, label: title + ": ", total, of: "results",
    rows: report.statuses.filter((status) => !status.error).sort((a, b) => b.count - a.count)
      .concat(report.failed ? [{ name: "failed", count: report.failed, bad: true }] : [])
      .map((status) => ({ name: status.name, count: status.count, bad: status.bad })) });
  const errors = report.statuses.filter((status) => status.error).sort((a, b) => b.count - a.count);
  const box = el("div", { class: "panel" }, el("h3", null, "Errors"));
  if (!errors.length) box.append(el("p", null, "No result failed."));
  for (const error of errors) {
    const show = el("button", { type: "button", class: "show" }, "Show",
      el("span", { class: "hidden" }, " results with the error " + error.name));
    show.addEventListener("click", () => filterBy(report.statuses.indexOf(error)));
    box.append(el("div", { class: "error" }, el("p", null, el("span", { class: "badge bad mono" }, error.name), " ",
      plural(error.count, "result"), show)),
      el("ul", null, ...error.messages.map(([message, times]) => el("li", null, count(times) + " × ", message))));
  }
  place.append(box);
}

showHead();
showCards();
showNotes();
fieldsPanel();
funnelPanel();
endsPanel();
histogram(byID("lengths"), { title: "Prompt tokens", data: report.lengths.prompt, unit: "tokens", of: "result" });
histogram(byID("lengths"), { title: "Completion tokens", data: report.lengths.completion, unit: "tokens", of: "result" });
throughputPanel();
latencyPanel();
showSettings();
