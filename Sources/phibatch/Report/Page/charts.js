const MARGIN = { left: 52, right: 14, top: 16, bottom: 44 };

/* Round steps from 0 to at least the highest value. */
function steps(highest, wanted) {
  const rough = highest / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= rough * 0.999);
  const list = [];
  for (let i = 0; i * step <= highest * 1.0001 + step * 0.999; i++) list.push(i * step);
  return list;
}

/* A panel with a chart that is drawn anew for each width. draw(width, height) returns SVG nodes. */
function panel(place, { title, about, label, height, details, draw, wide }) {
  const figure = el("figure", { class: "panel" + (wide ? " wide" : "") },
    el("figcaption", null, el("h3", null, title)), about ? el("p", null, about) : null);
  const tip = el("div", { class: "tip", hidden: "" });
  const picture = svg("svg", { role: "img", "aria-label": label, height });
  figure.append(picture, tip, details);
  place.append(figure);
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(figure.clientWidth - 2 * parseFloat(getComputedStyle(figure).paddingLeft));
    if (width === drawn || width < 50) return;
    drawn = width;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren(...draw(width, height));
  };
  redraw();
  new ResizeObserver(redraw).observe(figure);
  picture.addEventListener("pointermove", (event) => {
    const text = event.target.dataset.tip;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = figure.getBoundingClientRect();
    const left = event.clientX - box.left - tip.offsetWidth / 2;
    tip.style.left = Math.max(4, Math.min(left, box.width - tip.offsetWidth - 4)) + "px";
    tip.style.top = event.clientY - box.top - tip.offsetHeight - 12 + "px";
  });
  picture.addEventListener("pointerleave", () => { tip.hidden = true; });
  return figure;
}

function frame(width, height, highest, yName, xName) {
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const ticks = steps(highest, 3);
  const top = ticks[ticks.length - 1];
  const y = (value) => inner.bottom - ((inner.bottom - inner.top) * value) / top;
  const nodes = [];
  for (const tick of ticks) {
    nodes.push(svg("line", { class: tick ? "grid" : "axis", x1: inner.left, x2: inner.right, y1: y(tick), y2: y(tick) }));
    nodes.push(svg("text", { x: inner.left - 8, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  nodes.push(svg("text", { x: 0, y: 6 }, yName));
  nodes.push(svg("text", { x: (inner.left + inner.right) / 2, y: height - 4, "text-anchor": "middle" }, xName));
  return { inner, y, nodes };
}

/* Bars of equal width; those of a logarithmic scale span equal ratios. */
function histogram(place, { title, data, unit, one, of }) {
  if (!data) return null;
  const named = (value) => amount(value) + (unit === "s" ? " s" : "");
  const span = ([from, to]) => data.whole
    ? to - from <= 1 ? amount(from) : `${amount(from)} to ${amount(to - 1)}`
    : `${amount(from)} to ${amount(to)}`;
  const bins = data.bins;
  const xName = unit === "s" ? "seconds" : unit;
  const scale = data.log ? ", on a logarithmic scale" : "";
  return panel(place, {
    title, height: 210,
    about: `median ${named(data.p50)} · 90% up to ${named(data.p90)} · 99% up to ${named(data.p99)} · at most ${named(data.max)}`,
    label: `${title}: a histogram of ${plural(data.count, of)}${scale}. From ${named(data.min)} to ${named(data.max)}, `
      + `mean ${named(data.mean)}, median ${named(data.p50)}, 99% up to ${named(data.p99)}.`,
    details: dataDetails(title, [xName, of + "s", "share"],
      bins.map((bin) => [span(bin), count(bin[2]), percent(bin[2], data.count)])),
    draw(width, height) {
      const { inner, y, nodes } = frame(width, height, Math.max(...bins.map((bin) => bin[2])), of + "s",
        xName + (data.log ? ", logarithmic" : ""));
      const step = (inner.right - inner.left) / bins.length;
      const gap = step > 6 ? 1.5 : step > 3 ? 0.5 : 0;
      bins.forEach((bin, i) => {
        const x = inner.left + i * step;
        const tall = Math.max(bin[2] ? 1.5 : 0, inner.bottom - y(bin[2]));
        nodes.push(svg("rect", { class: "bar", x: x + gap / 2, width: step - gap, y: inner.bottom - tall, height: tall }));
        nodes.push(svg("rect", { class: "hit", x, width: step, y: inner.top, height: inner.bottom - inner.top,
          "data-tip": `${span(bin)} ${unit}: ${plural(bin[2], of)}` }));
      });
      // As many edges as have room.
      const each = Math.ceil(bins.length / Math.max(2, Math.floor((inner.right - inner.left) / 62)));
      for (let i = 0; i <= bins.length; i += each) {
        const value = i < bins.length ? bins[i][0] : bins[i - 1][1];
        nodes.push(svg("text", { x: inner.left + i * step, y: inner.bottom + 17, "text-anchor": "middle" }, short(value)));
      }
      const place = (value) => {
        const i = bins.findIndex((bin) => value < bin[1]);
        if (i < 0) return inner.right;
        const [from, to] = bins[i];
        return inner.left + (i + (to > from ? (value - from) / (to - from) : 0)) * step;
      };
      let used = -1e9;
      for (const [name, value] of [["p50", data.p50], ["p90", data.p90], ["p99", data.p99]]) {
        const x = place(data.whole ? value + 0.5 : value);
        if (x - used < 30) continue;
        used = x;
        nodes.push(svg("line", { class: "mark", x1: x, x2: x, y1: inner.top - 2, y2: inner.bottom }));
        nodes.push(svg("text", { class: "mark-label", x, y: inner.top - 6, "text-anchor": x > inner.right - 12 ? "end" : "middle" }, name));
      }
      return nodes;
    },
  });
}

/* Amounts by name, as bars with their names before them. */
function nameBars(place, { title, about, label, rows, total, of }) {
  const line = 34;
  return panel(place, {
    title, about, label: label + rows.map((row) => `${row.name} ${count(row.count)}`).join(", ") + ".",
    height: rows.length * line + 6,
    details: dataDetails(title, ["", of, "share"], rows.map((row) => [row.name, count(row.count), percent(row.count, total)])),
    draw(width) {
      const highest = Math.max(...rows.map((row) => row.count), 1);
      return rows.flatMap((row, i) => [
        svg("text", { x: 0, y: i * line + 13, class: "mark-label" }, clip(row.name, Math.floor(width / 7) - 24)),
        svg("text", { x: width, y: i * line + 13, "text-anchor": "end" }, `${row.more || ""}${count(row.count)} · ${percent(row.count, total)}`),
        svg("rect", { class: "bar" + (row.bad ? " bad" : ""), x: 0, y: i * line + 19, height: 7, rx: 2,
          width: Math.max(2, (width * row.count) / highest) }),
      ]);
    },
  });
}
