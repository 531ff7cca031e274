// How fast runs are, and where their time goes.

function speed() {
  const chart = new Chart("speedup", `Speed-up over ${data.baseline}`, [
    { title: "run", value: (row) => row.label, text: true },
    { title: "speed-up", value: (row) => digits.format(row.speedup) },
    ...(data.runs.some((run) => run.replicates > 1) ? [{ title: "interval", value: (row) => (row.low ? `${digits.format(row.low)} – ${digits.format(row.high)}` : "–"), text: true }] : []),
    { title: "published", value: (row) => (row.published ? digits.format(row.published) : "–") },
    { title: "time", value: (row) => (row.time_ms ? duration(row.time_ms * 1e9) : "–") },
  ]);
  const known = data.speedups.filter((row) => row.speedup !== null).map((row) => ({ ...row, label: runOf(row).label, end: Math.max(row.speedup, row.high ?? 1, 1) }));
  if (known.length < 2) return;
  const marks = data.published.averages?.length ? " Black marks are published averages." : "";
  const whiskers = data.runs.some((run) => run.replicates > 1) ? " Times are medians of replicates; lines across the ends of bars are their intervals." : "";
  section("speed", "Speed-up", `How many times as fast as ${data.baseline} on the same workload.${marks}${whiskers}`, chart.figure, published());
  later(() => chart.draw([...known, ...meanRows()]));
}

// Geometric means over several workloads, with the published value where there is one.
function meanRows() {
  const groups = new Set(data.runs.map((run) => run.group));
  const variants = Object.entries(data.means);
  if (groups.size < 2) return [];
  const printed = (variant) => data.published.averages?.find((row) => row.over === data.baseline && row.of === variant)?.published;
  return variants.map(([variant, speedup]) => {
    const value = printed(variant);
    return { label: `geometric mean · ${variant}`, variant, speedup, end: Math.max(speedup, 1, value ?? 0), ...(value ? { published: value } : {}) };
  });
}

function published() {
  const found = data.published;
  if (!found.source) return null;
  const ratio = (value) => `${value.toFixed(2)} ×`;
  const averages = [
    { title: "average speed", value: (row) => `${row.of} over ${row.over}`, text: true },
    { title: "published", value: (row) => ratio(row.published) },
    { title: "found", value: (row) => ratio(row.found) },
    { title: "found / published", value: (row) => `${(row.found / row.published).toFixed(2)}` },
  ];
  const fastest = [
    { title: "kernel", value: (row) => row.kernel, text: true },
    { title: "published", value: (row) => row.published, text: true },
    { title: "found", value: (row) => row.found, text: true, differs: (row) => row.found !== row.published },
  ];
  const all = found.kernels.length === found.kernels_published;
  const caveat = all ? "" : ` The published averages are over ${found.kernels_published} kernels, those found over ${found.kernels.length} (${found.kernels.join(", ")}): they are not the same quantity.`;
  const differs = found.differs.length ? ` The runs' machines differ in ${found.differs.join(", ")}.` : "";
  return element(
    "div",
    {},
    element("h3", {}, "Beside the publication"),
    element("p", { class: "lead" }, `${found.source}.${caveat}${differs} Footprints are scaled by workload.scale; the publication's are not.`),
    found.averages.length ? table("Published averages", averages, found.averages) : null,
    found.fastest.length ? table("Fastest uniform scheme of each kernel; disagreements are marked", fastest, found.fastest) : null,
  );
}

// Where the time goes

function causes() {
  const chart = new Chart("causes", "Run time by cause", [
    label,
    { title: "cause", value: (row) => row.cause, text: true },
    { title: "share", value: (row) => percent.format(row.share) },
    { title: "time", value: (row) => duration(row.time_ms * 1e9) },
  ]);
  const base = new Map(data.speedups.map((row) => [row.run, row.speedup === null ? 1 : 1 / row.speedup]));
  if (!data.causes.length) return;
  section("time", "Time by cause", "Each bar is as long as the run took, relative to the baseline, and is split as the time of its accesses is. Accesses overlap, so parts are shares and not waits one after another. Parts carry their shares where there is room.", chart.figure);
  later(() => chart.draw(data.causes.map((row) => ({ ...row, label: runOf(row).label, relative: base.get(row.run) * row.share, whole: base.get(row.run) }))));
}

// What the time of kernels passes with

function stalls() {
  if (!data.stalls.length) return;
  const shares = [
    { title: "kernel", value: (row) => row.kernel, text: true },
    { title: "passes with", value: (row) => row.stall, text: true },
    { title: "share", value: (row) => percent.format(row.share) },
    { title: "time", value: (row) => duration(row.time_ms * 1e9) },
  ];
  const kernels = [
    label,
    { title: "kernel", value: (row) => row.kernel, text: true },
    { title: "launches", value: (row) => number.format(row.launches) },
    { title: "time", value: (row) => duration(row.whole * 1e9) },
    { title: "loads in series", value: (row) => digits.format(row.in_series) },
    { title: "waits for lines of", value: (row) => row.buffers || "–", text: true },
  ];
  const rows = data.stalls.map((row) => ({ ...row, label: row.kernel }));
  const firsts = rows.filter((row, index) => row.kernel !== rows[index - 1]?.kernel || row.run !== rows[index - 1]?.run);
  const made = section("stalls", "Stalls", "What the time of each kernel passes with: gaps between launches, and for the rest what its wavefronts do or wait for, each counted from its beginning to its end. Queues are the part of a wait in which lines wait for their turn. The longest kernels are drawn.");
  perRun(made, "By kernel", "stalls", shares, { rows, only: (run) => rows.some((row) => row.run === run), prepare: onlyVisible });
  made.append(table("Kernels in numbers: loads in series are how often a wavefront waits for loads on average, one after another", kernels, firsts));
}

// The legend names the parts that are wide enough to be seen.
function onlyVisible(specification) {
  const { color } = specification.layer[0].encoding;
  const seen = new Set(specification.datasets.rows.filter((row) => row.share >= 0.005).map((row) => row.stall));
  color.legend = { ...color.legend, values: color.scale.domain.filter((name) => seen.has(name)) };
}

// Phases of whole programs

function phases() {
  if (!data.phases.length) return;
  const chart = new Chart("phases", "Time of whole programs by phase", [
    label,
    { title: "phase", value: (row) => row.phase, text: true },
    { title: "time", value: (row) => duration(row.time_ms * 1e9) },
    { title: "share", value: (row) => percent.format(row.share) },
  ]);
  const names = [...new Set(data.phases.map((row) => row.phase))];
  const wholes = [...new Set(data.phases.map((row) => row.run))];
  const time = (run, phase) => data.phases.find((row) => row.run === run && row.phase === phase);
  const columns = [
    { title: "run", value: (run) => data.runs[run].label, text: true },
    { title: "time", value: (run) => duration(data.runs[run].time_ms * 1e9) },
    ...names.map((phase) => ({ title: phase, value: (run) => `${duration(time(run, phase).time_ms * 1e9)} (${percent.format(time(run, phase).share)})` })),
  ];
  const made = section("phases", "Phases", "What whole programs did, from the first allocation to the last free. Of phases that run side by side each counts in full; what is left is other. Parts carry their shares where there is room, and behind each bar stands the time of the whole program.", chart.figure);
  later(() => chart.draw(data.phases.map((row) => ({ ...row, label: runOf(row).label, whole: runOf(row).time_ms }))));
  perRun(made, "When", "spans", [label, { title: "phase", value: (row) => row.phase, text: true }, { title: "what", value: (row) => row.name, text: true }, { title: "from ms", value: (row) => digits.format(row.from) }, { title: "to ms", value: (row) => digits.format(row.to) }]);
  made.append(table("Phases in numbers", columns, wholes));
}
