// Tables: of runs, and behind every chart.

// `columns` are { title, value(row), text, differs(row), wrap }; `current` tells the row that is meant, if one is.
function table(caption, columns, rows, current) {
  const body = rows.map((row) => element("tr", { "aria-current": current?.(row) ? "true" : null }, ...columns.map((column, index) => cell(column, row, index))));
  const lines = element("tbody", {}, ...body);
  const heads = columns.map((column, index) => heading(column, () => sortBy(lines, heads, index)));
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...heads)), lines),
  );
}

function heading(column, sort) {
  const button = element("button", { type: "button", class: "sort" }, column.title);
  button.addEventListener("click", sort);
  return element("th", { scope: "col", class: column.text ? "text" : null }, button);
}

// Sorts the rows by a column; numbers begin with the largest, names with the first, and a second time it is the other way.
function sortBy(lines, heads, index) {
  const keys = new Map([...lines.rows].map((row) => [row, sortKey(row.cells[index].textContent)]));
  const known = [...keys.values()].filter((key) => key !== null);
  const numeric = known.every((key) => typeof key === "number");
  const before = heads[index].getAttribute("aria-sort");
  const falling = before === null ? numeric : before === "ascending";
  const order = (one, other) => (numeric ? one - other : String(one).localeCompare(String(other), "en", { numeric: true }));
  const rows = [...lines.rows].sort((one, other) => {
    const [first, second] = [keys.get(one), keys.get(other)];
    if (first === null || second === null) return (first === null) - (second === null);
    return falling ? order(second, first) : order(first, second);
  });
  lines.append(...rows);
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[index].setAttribute("aria-sort", falling ? "descending" : "ascending");
  announce(`sorted by ${heads[index].textContent}, ${falling ? "falling" : "rising"}`);
}

const SORT_UNITS = { "": 1, "%": 1, ps: 1, ns: 1e3, "µs": 1e6, ms: 1e9, s: 1e12, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

// Letters of short numbers, which stand right behind them: `5B` is five thousand million, `5 B` are bytes.
const SORT_SHORT = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };

// What a cell is sorted by: a number with its unit, or text; nothing for a dash.
function sortKey(text) {
  const found = /^([−-]?[\d,]*\.?\d+(?:[eE][−+-]?\d+)?)([KMBT](?!\S))?\s*(\S*)$/.exec(text.trim());
  if (found && found[3] in SORT_UNITS) return Number(found[1].replaceAll(",", "").replaceAll("−", "-")) * (SORT_SHORT[found[2]] ?? 1) * SORT_UNITS[found[3]];
  return text.trim() === "–" ? null : text.trim();
}

function cell(column, row, index) {
  const value = column.value(row);
  const names = [column.text ? "text" : null, column.differs?.(row) ? "differs" : null, column.wrap ? "wrap" : null];
  const attributes = { class: names.filter(Boolean).join(" ") || null, ...(index === 0 ? { scope: "row" } : {}) };
  return element(index === 0 ? "th" : "td", attributes, value instanceof Node ? value : String(value ?? "–"));
}

const MOST_ROWS = 5000;

// A table that is made when it is opened; `rows` gives what the chart shows now.
function tableBehind(caption, columns, rows) {
  const details = element("details", { class: "behind" }, element("summary", {}, "Table"));
  details.addEventListener("toggle", () => {
    details.querySelector(".scroll, .notice")?.remove();
    if (!details.open) return;
    const all = rows();
    const cut = all.length > MOST_ROWS ? ` (the first ${number.format(MOST_ROWS)} of ${number.format(all.length)} rows; the Parquet tables hold all)` : "";
    details.append(table(caption + cut, columns, all.slice(0, MOST_ROWS)));
  });
  return details;
}
