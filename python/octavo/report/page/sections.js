// Sections of the page, and the charts over time in them.

function section(id, title, lead, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  const made = element("section", { id, "aria-labelledby": `${id}-title` }, heading, lead ? element("p", { class: "lead" }, lead) : null, ...children);
  document.getElementById("main").append(made);
  document.getElementById("sections").append(element("li", {}, element("a", { href: `#${id}` }, title)));
  return made;
}

function notice(...children) {
  return element("p", { class: "notice" }, ...children);
}

const runOf = (row) => data.runs[row.run];
const label = { title: "run", value: (row) => runOf(row).label, text: true };

function card(title, ...children) {
  return element("div", { class: "card" }, element("h3", {}, title), ...children);
}

// Charts of all shown runs together.
function overlay(charts, name) {
  const rows = data[name].map((row) => ({ ...row, label: runOf(row).label }));
  whenShownChange(() => {
    const labels = shownInOrder().map((run) => data.runs[run].label);
    for (const chart of charts) {
      const known = rows.filter((row) => shown.has(row.run) && row[chart.field] !== null);
      later(() => chart.draw(known, labels.filter((label) => known.some((row) => row.label === label))));
    }
  });
}

// One card for each shown run, side by side; `prepare` may change the specification of the chart.
function perRun(made, title, name, columns, { extra = () => ({}), rows: all = data[name], only = () => true, prepare = null } = {}) {
  const grid = element("div", { class: "grid" });
  const charts = new Map();
  made.append(element("h3", {}, title), grid);
  whenShownChange(() => {
    grid.replaceChildren();
    for (const run of shownInOrder().filter(only)) {
      const rows = all.filter((row) => row.run === run).map((row) => ({ ...row, ...extra(run) }));
      const first = !charts.has(run);
      if (first) charts.set(run, Object.assign(new Chart(name, `${title}, ${data.runs[run].label}`, columns), { prepare }));
      const chart = charts.get(run);
      if (first && !rows.length) chart.host.append(element("p", { class: "lead" }, "nothing recorded"));
      if (rows.length) later(() => chart.draw(rows));
      grid.append(card(data.runs[run].label, charts.get(run).figure));
    }
  });
}
