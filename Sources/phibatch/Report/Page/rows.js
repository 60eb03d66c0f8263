/* What the table knows of all rows: numbers and ids are read at once, texts when a piece is first needed. */
const rows = { count: 0, id: [], line: null, sample: null, status: null, prompt: null, completion: null, seconds: null };
const pieces = [];
let pieceSize = 1;

function readRows() {
  const heads = [...document.querySelectorAll("script.rows")];
  const texts = [...document.querySelectorAll("script.texts")];
  const values = [...document.querySelectorAll("script.values")];
  rows.count = report.table.rows;
  pieceSize = report.table.piece;
  for (const name of ["line", "sample", "status", "prompt", "completion", "seconds"]) {
    rows[name] = new Float64Array(rows.count);
  }
  let start = 0;
  heads.forEach((node, number) => {
    const head = JSON.parse(node.textContent);
    node.remove();
    for (const id of head.id) rows.id.push(id);
    for (const name of ["line", "sample", "status", "prompt", "completion", "seconds"]) {
      // null, where a result doesn't say, is no number.
      head[name].forEach((value, i) => { rows[name][start + i] = value === null ? NaN : value; });
    }
    pieces.push({ start, count: head.id.length, json: texts[number].textContent, values: values[number].textContent,
      folded: null, ends: null });
    texts[number].remove();
    values[number].remove();
    start += head.id.length;
  });
}

/* The texts of the pieces that were used last; all of them would be in memory twice. */
const opened = new Map();
function textsOf(piece) {
  let texts = opened.get(piece);
  if (texts) {
    opened.delete(piece);
  } else {
    texts = JSON.parse(piece.json);
    if (opened.size >= 24) opened.delete(opened.keys().next().value);
  }
  opened.set(piece, texts);
  return texts;
}

/* { prompt, text, error, more } of a row. */
function textOf(row) {
  const piece = pieces[Math.floor(row / pieceSize)];
  const texts = textsOf(piece);
  const i = row - piece.start;
  return { prompt: texts.prompt ? texts.prompt[i] : null, text: texts.text[i], error: texts.error[i], more: texts.more[i] };
}

/* The values of a field in all rows; they are read when a first field's are wanted. */
let fieldColumns = null;
function fieldColumn(number) {
  if (!fieldColumns) {
    fieldColumns = report.fields.filter((field) => field.column !== null).map(() => []);
    for (const piece of pieces) {
      JSON.parse(piece.values).forEach((list, i) => { for (const value of list) fieldColumns[i].push(value); });
      piece.values = null;
    }
  }
  return fieldColumns[number];
}

/* Whether a value is as a text says: ">= 4", "!= yes", or a part of it. Null for an empty text. */
function conditionOf(text) {
  const [, sign, rest] = /^\s*(>=|<=|!=|>|<|=)?\s*(.*?)\s*$/s.exec(text);
  if (!sign && !rest) return null;
  const wanted = rest !== "" && !Number.isNaN(Number(rest)) ? Number(rest) : rest.toLowerCase();
  const plain = (value) => (typeof value === "number" && typeof wanted === "number" ? value : String(value).toLowerCase());
  const same = (value) => plain(value) === (typeof plain(value) === "number" ? wanted : rest.toLowerCase());
  const both = (value) => typeof value === typeof wanted;
  switch (sign) {
    case "=": return same;
    case "!=": return (value) => !same(value);
    case ">": return (value) => both(value) && plain(value) > wanted;
    case ">=": return (value) => both(value) && plain(value) >= wanted;
    case "<": return (value) => both(value) && plain(value) < wanted;
    case "<=": return (value) => both(value) && plain(value) <= wanted;
    default: return (value) => same(value) || (typeof value === "string" && plain(value).includes(rest.toLowerCase()));
  }
}

const statusOf = (row) => report.statuses[rows.status[row]];

/* ---- Search ---- */

/* One string a piece, in lower case, and where each row ends in it. */
function fold(piece) {
  if (piece.folded !== null) return;
  const texts = textsOf(piece);
  const parts = [];
  piece.ends = new Float64Array(piece.count);
  let end = 0;
  for (let i = 0; i < piece.count; i++) {
    const more = (texts.more[i].facts || []).map((fact) => fact[1]).join("\n");
    const prompt = texts.prompt && texts.prompt[i] ? texts.prompt[i] : "";
    const part = `${rows.id[piece.start + i]}\n${prompt}\n${texts.text[i] || ""}\n${texts.error[i] || ""}\n${more}`
      .toLowerCase();
    parts.push(part);
    end += part.length + 1;
    piece.ends[i] = end;
  }
  piece.folded = parts.join("\u0001");
}

function findIn(piece, terms, found) {
  fold(piece);
  const { folded, ends } = piece;
  let row = 0;
  let at = folded.indexOf(terms[0]);
  while (at >= 0) {
    while (ends[row] <= at) row++;
    const start = row ? ends[row - 1] : 0;
    const end = ends[row] - 1;
    const all = terms.length === 1 || terms.every((term) => folded.slice(start, end).includes(term));
    if (all && at + terms[0].length <= end) found.push(piece.start + row);
    at = folded.indexOf(terms[0], ends[row]);
  }
}

/* Words, all of which must occur; words in quotes go together. The longest first: it is the rarest. */
function termsOf(query) {
  const terms = [];
  for (const match of query.toLowerCase().matchAll(/"([^"]+)"?|[^\s"]+/g)) terms.push(match[1] || match[0]);
  return terms.sort((a, b) => b.length - a.length);
}

const pause = () => new Promise((resolve) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
  channel.port2.postMessage(null);
});

/* The rows that have all terms, in order; null if a later search has begun meanwhile. */
let latestSearch = 0;
async function search(terms, progress) {
  const own = ++latestSearch;
  const found = [];
  let since = performance.now();
  for (const piece of pieces) {
    findIn(piece, terms, found);
    if (performance.now() - since > 12) {
      progress(piece.start + piece.count, found.length);
      await pause();
      if (own !== latestSearch) return null;
      since = performance.now();
    }
  }
  return found;
}

/* Pieces are made ready while nothing else is going on, so that the first search is as quick as the next. */
function prepare(number) {
  const later = window.requestIdleCallback || ((call) => setTimeout(() => call({ timeRemaining: () => 8 }), 50));
  later((deadline) => {
    while (number < pieces.length && deadline.timeRemaining() > 4) fold(pieces[number++]);
    if (number < pieces.length) prepare(number);
  });
}
