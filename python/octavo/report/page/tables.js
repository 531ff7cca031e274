// Tables: of runs, and behind every chart.

// `columns` are { title, value(row), text, differs(row), wrap }; `current` tells the row that is meant, if one is.
function table(caption, columns, rows, current) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", class: column.text ? "text" : null }, column.title)));
  const body = rows.map((row) => element("tr", { "aria-current": current?.(row) ? "true" : null }, ...columns.map((column, index) => cell(column, row, index))));
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body)),
  );
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
