// Runs along the axis that was swept.

function swept() {
  const { sweep } = data;
  if (!sweep) return;
  const rows = sweep.rows.map((row) => ({ ...row, label: runOf(row).label }));
  const named = sweep.unit ? `${sweep.key} in ${sweep.unit.replace("us", "µs")}` : sweep.key;
  const columns = [
    { title: named, value: (row) => digits.format(row.value) },
    { title: "line", value: (row) => row.series, text: true },
    { title: "time", value: (row) => duration(row.time_ms * 1e9) },
    { title: "faults", value: (row) => number.format(row.faults) },
  ];
  const charts = [new Chart("sweep", `Time by ${named}`, columns), new Chart("sweepfaults", `Faults by ${named}`, columns)];
  for (const chart of charts) {
    chart.prepare = (specification) => {
      if (!sweep.joined) specification.layer = specification.layer.filter((layer) => layer.mark.type !== "line");
      alongAxis(specification, rows, named);
    };
  }
  const whiskers = rows.some((row) => row.low) ? " Times are medians of replicates; bars across points are their intervals." : "";
  section("sweep", "Sweep", `The runs along the axis that was swept.${sweep.joined ? "" : " Other keys differ in each run, too, so points are not joined."}${whiskers}`, element("div", { class: "grid" }, ...charts.map((chart) => card(chart.caption, chart.figure))));
  charts.forEach((chart) => later(() => chart.draw(rows)));
}

// The axis has its name, and marks at the values that were swept; it is logarithmic if they lie like powers.
function alongAxis(specification, rows, named) {
  const values = [...new Set(rows.map((row) => row.value))].sort((one, other) => one - other);
  const powers = values[0] > 0 && values.at(-1) / values[0] >= 8;
  for (const layer of specification.layer) {
    layer.encoding.x.title = named;
    layer.encoding.x.axis = { values, labelExpr: "format(datum.value, '~r')" };
    if (powers) layer.encoding.x.scale.type = "log";
  }
}
