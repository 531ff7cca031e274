// The sections of the page, apart from the page map.

const MOST_SHOWN = 4;
const MOST_COLUMNS = 6;
const shown = new Set(data.runs.map((_, run) => run).slice(0, MOST_SHOWN));
const listeners = [];

function whenShownChange(listener) {
  listeners.push(listener);
  listener();
}

function section(id, title, lead, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  const made = element("section", { id, "aria-labelledby": `${id}-title` }, heading, element("p", { class: "lead" }, lead), ...children);
  document.getElementById("main").append(made);
  document.getElementById("sections").append(element("li", {}, element("a", { href: `#${id}` }, title)));
  return made;
}

function notice(...children) {
  return element("p", { class: "notice" }, ...children);
}

const runOf = (row) => data.runs[row.run];
const label = { title: "run", value: (row) => runOf(row).label, text: true };

// What was run

function overview() {
  const groups = [...new Set(data.runs.map((run) => run.group))];
  const first = data.runs[0];
  document.getElementById("main").append(
    element("h1", {}, groups.length > 3 ? `${groups.length} workloads, ${data.runs.length} runs` : `${groups.join(", ")}: ${data.runs.length} run${data.runs.length > 1 ? "s" : ""}`),
  );
  section(
    "runs",
    "Runs",
    "Every number on this page comes from the runs' result tables. Runs that are ticked are shown in the charts over time, of memory and of links.",
    figures([
      ["GPUs", [...new Set(data.runs.map((run) => run.gpus))].join(", ")],
      ["footprint", groups.length === 1 ? bytes(first.footprint) : `${bytes(Math.min(...data.runs.map((run) => run.footprint)))} – ${bytes(Math.max(...data.runs.map((run) => run.footprint)))}`],
      ["page size", [...new Set(data.runs.map((run) => bytes(run.page_bytes)))].join(", ")],
      ["speed-ups over", data.baseline],
    ]),
    findings(),
    why(),
    runTable(),
    missing(),
    scenarios(),
  );
}

function figures(pairs) {
  return element("dl", { class: "figures" }, ...pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

// One sentence for each workload: the fastest variant apart from the bound, and what takes most of its time.
function findings() {
  const groups = [...new Set(data.runs.map((run) => run.group))];
  const simulated = groups.filter((group) => data.runs.every((run) => run.group !== group || run.simulated));
  const compared = simulated.filter((group) => data.speedups.filter((row) => row.group === group && row.speedup).length > 1);
  return element("ul", { class: "findings" }, ...compared.slice(0, 10).map((group) => element("li", {}, finding(group))));
}

function finding(group) {
  const all = data.speedups.filter((row) => row.group === group);
  const bound = all.find((row) => runOf(row).placement === "ideal");
  const rows = all.filter((row) => row !== bound || row.variant === data.baseline || all.length < 3);
  const best = rows.reduce((one, other) => (other.time_ms < one.time_ms ? other : one));
  const part = (run) => data.causes.filter((row) => row.run === run).reduce((one, other) => (other.share > one.share ? other : one));
  const base = all.find((row) => row.variant === data.baseline);
  const [most, before] = [part(best.run), part(base.run)];
  const faster = best === base ? "is the fastest" : `is the fastest, ${digits.format(best.speedup)} times as fast as ${data.baseline}`;
  const limit = bound && !rows.includes(bound) ? ` (the ideal bound: ${digits.format(bound.speedup)})` : "";
  const text = ` ${best.variant} ${faster}${limit}; most of its accesses' time is ${most.cause} (${percent.format(most.share)})`;
  return element("span", {}, element("strong", {}, `${group}:`), best === base ? `${text}.` : `${text}, under ${data.baseline} it is ${before.cause} (${percent.format(before.share)}).`);
}

const WAIT_COLUMNS = [
  { title: "what for", value: (row) => row.part, text: true },
  { title: "share of the wait", value: (row) => percent.format(row.share) },
  ...["p50", "p95", "p99"].map((name) => ({ title: name, value: (row) => duration(row[`${name}_ps`]) })),
];

// What bound each run, and what its faults waited for; those that are ticked first are open.
function why() {
  const told = data.runs.map((run, index) => ({ run, index })).filter(({ run }) => run.why.length);
  if (!told.length) return null;
  const one = ({ run, index }) =>
    element(
      "details",
      { open: index < MOST_SHOWN },
      element("summary", {}, run.label),
      element("ul", { class: "reasons" }, ...run.why.map((sentence) => element("li", {}, sentence))),
      run.waits.length ? table(`What faults wait for: ${run.label}`, WAIT_COLUMNS, run.waits) : null,
    );
  return element("div", { class: "why" }, element("h3", {}, "Why"), ...told.map(one));
}

function runTable() {
  const speedup = new Map(data.speedups.map((row) => [row.run, row.speedup]));
  const count = (name, title = words(name)) => ({ title, value: (run) => known(run[name], number) });
  const columns = [
    { title: "run", value: (run) => tick(run), text: true },
    { title: "time", value: (run) => duration(run.time_ms * 1e9) },
    { title: "speed-up", value: (run) => (speedup.get(run.number) === null ? "–" : digits.format(speedup.get(run.number))) },
    ...["faults", "migrations", "duplications", "collapses", "remote_maps", "prefetched"].map((name) => count(name)),
    { title: "remote lines", value: (run) => known(run.lines && run.remote_lines / run.lines, percent) },
    { title: "memory of a GPU", value: (run) => (!run.simulated ? "–" : run.capacity === null ? "no limit" : bytes(run.capacity)) },
    { title: "folder", value: (run) => run.folder, text: true },
  ];
  return table("Runs in numbers", columns, data.runs.map((run, index) => ({ ...run, number: index })));
}

// A number, or a dash where it was not recorded.
function known(value, format) {
  return value === null || value === undefined ? "–" : format.format(value);
}

function tick(run) {
  const box = element("input", { type: "checkbox", id: `show-${run.number}`, checked: shown.has(run.number) });
  box.addEventListener("change", () => {
    if (box.checked) shown.add(run.number);
    else shown.delete(run.number);
    listeners.forEach((listener) => listener());
    announce(`${shown.size} runs shown`);
  });
  const dot = element("span", { class: "dot", style: `background:${colourOfRun(run.number)}`, "aria-hidden": "true" });
  return element("label", { for: `show-${run.number}` }, box, " ", dot, run.label);
}

function missing() {
  const simulated = data.runs.filter((run) => run.simulated);
  const profiles = data.runs.filter((run) => !run.simulated && !run.sampled).map((run) => run.label);
  const sampled = data.runs.filter((run) => run.sampled).map((run) => run.label);
  const without = (what) => simulated.filter((run) => !run[what]).length;
  const say = (count, what, lost, option) =>
    count === 0 ? null : notice(`${count === simulated.length ? (count === 1 ? "The run has" : "All runs have") : `${count} of ${simulated.length} runs have`} no ${what}, so ${lost}. Run again with `, element("code", {}, option), " to record them.");
  return element(
    "div",
    {},
    say(without("events"), "recorded events", "there is no page map of them", "--set record.events=true"),
    say(without("intervals"), "samples", "there are no charts over time of them", "--set record.interval=100us"),
    profiles.length ? notice(`Profiles of real programs tell of faults, copies, allocations and kernels, and of nothing else that a simulated run records: ${profiles.join(", ")}.`) : null,
    sampled.length ? notice(`Programs that octavo profile sampled tell of memory in use, mappings and page faults of the host, and of nothing else that a simulated run records: ${sampled.join(", ")}.`) : null,
  );
}

function scenarios() {
  const many = data.runs.length > 1;
  if (data.runs.every((run) => run.sampled)) return null;
  const same = Object.entries(data.common).map(([key, value]) => ({ key, value }));
  const shared = [{ title: "key", value: (row) => row.key, text: true }, { title: "value", value: (row) => row.value, text: true, wrap: true }];
  return element(
    "div",
    {},
    many ? element("h3", {}, data.differing.length ? "What differs in the scenarios" : "The scenarios do not differ") : null,
    many && data.differing.length ? differences() : null,
    tableBehindText(many ? "What all scenarios share: machine, memory system, workload" : "Scenario: machine, memory system, workload", shared, same),
  );
}

// A column for each run, or, of many runs, a row.
function differences() {
  const caption = "Keys that differ; values unlike the first run's are marked";
  const differs = (row, index) => row.values[index] !== row.values[0];
  if (data.runs.length > MOST_COLUMNS) {
    const columns = data.differing.map((row) => ({ title: row.key, text: true, value: ({ index }) => row.values[index], differs: ({ index }) => differs(row, index) }));
    return table(caption, [{ title: "run", value: (row) => row.run.label, text: true }, ...columns], data.runs.map((run, index) => ({ run, index })));
  }
  const columns = data.runs.map((run, index) => ({ title: run.label, text: true, value: (row) => row.values[index], differs: (row) => differs(row, index) }));
  return table(caption, [{ title: "key", value: (row) => row.key, text: true }, ...columns], data.differing);
}

function tableBehindText(summary, columns, rows) {
  const details = tableBehind(summary, columns, () => rows);
  details.querySelector("summary").textContent = summary;
  return details;
}

// How fast

function speed() {
  const chart = new Chart("speedup", `Speed-up over ${data.baseline}`, [
    { title: "run", value: (row) => row.label, text: true },
    { title: "speed-up", value: (row) => digits.format(row.speedup) },
    { title: "published", value: (row) => (row.published ? digits.format(row.published) : "–") },
    { title: "time", value: (row) => (row.time_ms ? duration(row.time_ms * 1e9) : "–") },
  ]);
  const known = data.speedups.filter((row) => row.speedup !== null).map((row) => ({ ...row, label: runOf(row).label, end: Math.max(row.speedup, 1) }));
  if (known.length < 2) return;
  section("speed", "Speed-up", `How many times as fast as ${data.baseline} on the same workload; black marks are published averages.`, chart.figure, published());
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
  section("time", "Time by cause", "Each bar is as long as the run took, relative to the baseline, and is split as the time of its accesses is. Accesses overlap, so parts are shares and not waits one after another.", chart.figure);
  later(() => chart.draw(data.causes.map((row) => ({ ...row, label: runOf(row).label, relative: base.get(row.run) * row.share }))));
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
  const made = section("phases", "Phases", "What whole programs did, from the first allocation to the last free. Of phases that run side by side each counts in full; what is left is other.", chart.figure, table("Phases in numbers", columns, wholes));
  later(() => chart.draw(data.phases.map((row) => ({ ...row, label: runOf(row).label }))));
  perRun(made, "When", "spans", [label, { title: "phase", value: (row) => row.phase, text: true }, { title: "what", value: (row) => row.name, text: true }, { title: "from ms", value: (row) => digits.format(row.from) }, { title: "to ms", value: (row) => digits.format(row.to) }]);
}

// Over time

const until = { title: "until ms", value: (row) => digits.format(row.to) };

function overTime() {
  const field = (name, title, format = digits) => [label, until, { title, value: (row) => (row[name] === null ? "–" : format.format(row[name])) }];
  const lines = [
    new Chart("faults", "Faults per millisecond", field("faults", "faults per ms")),
    new Chart("remote", "Remote lines in gigabytes per second", field("remote_bytes", "GB/s")),
  ];
  const made = section("over-time", "Over time", "Drag to move along the time, hold Shift and turn the wheel to zoom, double-click to see everything again.");
  hostFaults(made);
  if (!data.rates.length) return data.host_faults.length ? null : made.append(noSamples());
  made.append(element("div", { class: "grid" }, ...lines.map((chart) => card(chart.caption, chart.figure))));
  overlay(lines, "rates");
  perRun(made, "Pages moved, by cause", "moves", [label, until, { title: "cause", value: (row) => row.cause, text: true }, { title: "pages per ms", value: (row) => digits.format(row.pages) }], { only: notSampled });
  traffic(made);
  perRun(made, "Use of links", "links", [label, until, { title: "link", value: (row) => row.link, text: true }, { title: "busy", value: (row) => percent.format(row.busy) }, { title: "GB/s", value: (row) => digits.format(row.bytes) }], { only: notSampled });
}

// Bytes by level of memory, which only coherent nodes tell.
function traffic(made) {
  if (!data.kernel_traffic.length) return;
  const told = (run) => data.kernel_traffic.some((row) => row.run === run);
  if (data.traffic.length) perRun(made, "Traffic by level of memory", "traffic", [label, until, { title: "level", value: (row) => row.level, text: true }, { title: "GB/s", value: (row) => digits.format(row.bytes) }], { only: told });
  const names = Object.keys(Object.assign({}, ...data.kernel_traffic)).filter((name) => !["run", "kernel", "launches", "time_ps"].includes(name));
  const columns = [
    { title: "kernel", value: (row) => row.kernel, text: true },
    label,
    { title: "launches", value: (row) => short.format(row.launches) },
    { title: "time", value: (row) => duration(row.time_ps) },
    ...names.map((name) => ({ title: name, value: (row) => (name in row ? bytes(row[name]) : "–") })),
  ];
  made.append(element("h3", {}, "Traffic by kernel"), table("Bytes between levels of memory, by kernel", columns, data.kernel_traffic));
}

const notSampled = (run) => !data.runs[run].sampled;

// Page faults of the host, which only programs have that were sampled.
function hostFaults(made) {
  if (!data.host_faults.length) return;
  perRun(made, "Page faults of the host", "hostfaults", [label, until, { title: "kind", value: (row) => row.kind, text: true }, { title: "page faults per ms", value: (row) => digits.format(row.faults) }], { rows: data.host_faults, only: (run) => !notSampled(run) });
}

function noSamples() {
  if (!data.runs.some((run) => run.simulated)) return notice("Profiles of real programs have no samples.");
  return notice("No run has samples. Run again with ", element("code", {}, "--set record.interval=100us"), ".");
}

function card(title, ...children) {
  return element("div", { class: "card" }, element("h3", {}, title), ...children);
}

// Charts of all shown runs together.
function overlay(charts, name) {
  const rows = data[name].map((row) => ({ ...row, label: runOf(row).label }));
  whenShownChange(() => {
    const labels = [...shown].sort((one, other) => one - other).map((run) => data.runs[run].label);
    charts.forEach((chart) => later(() => chart.draw(rows.filter((row) => shown.has(row.run)), labels)));
  });
}

// One card for each shown run, side by side.
function perRun(made, title, name, columns, { extra = () => ({}), rows: all = data[name], only = () => true } = {}) {
  const grid = element("div", { class: "grid" });
  const charts = new Map();
  made.append(element("h3", {}, title), grid);
  whenShownChange(() => {
    grid.replaceChildren();
    for (const run of [...shown].filter(only).sort((one, other) => one - other)) {
      const rows = all.filter((row) => row.run === run).map((row) => ({ ...row, ...extra(run) }));
      if (!charts.has(run)) {
        const chart = new Chart(name, `${title}, ${data.runs[run].label}`, columns);
        charts.set(run, chart);
        if (rows.length) later(() => chart.draw(rows));
        else chart.host.append(element("p", { class: "lead" }, "nothing recorded"));
      }
      grid.append(card(data.runs[run].label, charts.get(run).figure));
    }
  });
}

// Translation

function translation() {
  const rows = data.translation;
  if (!rows.length) return;
  const reach = (title, name) => ({ title, value: (row) => `${bytes(row[name])} (${percent.format(row[name] / row.footprint)} of the footprint)` });
  const columns = [
    label,
    { title: "page", value: (row) => bytes(row.page_bytes) },
    reach("reach, first level of a compute unit", "l1_reach"),
    reach("reach, second level of a GPU", "l2_reach"),
    { title: "translations", value: (row) => short.format(row.translations) },
    { title: "first-level misses", value: (row) => percent.format(row.l1_miss) },
    { title: "of these: second-level hits", value: (row) => percent.format(row.l2_hit) },
    { title: "walks of these", value: (row) => percent.format(row.walked) },
    { title: "waits for a fault under way", value: (row) => percent.format(row.joined) },
    { title: "walks", value: (row) => short.format(row.walks) },
    { title: "levels read a walk", value: (row) => digits.format(row.levels_a_walk) },
  ];
  const made = section("translation", "Translation", "Reach is how much memory the entries of a TLB cover. Hits on entries that are still being filled count as hits; a miss needs no walk of its own if a fault of its GPU on the page is under way.", table("TLB reach and misses", columns, rows));
  if (!data.rates.length) return;
  const share = (name, title) => [label, until, { title, value: (row) => (row[name] === null ? "–" : percent.format(row[name])) }];
  const charts = [new Chart("l1miss", "First-level misses per translation", share("l1_miss", "misses")), new Chart("walks", "Page-table walks per translation", share("walks", "walks"))];
  made.append(element("div", { class: "grid" }, ...charts.map((chart) => card(chart.caption, chart.figure))));
  overlay(charts, "rates");
}

// Memory

function memory() {
  const simulated = data.runs.some((run) => run.simulated) ? "Copies of pages that each processor holds, replicas included; the dashed line is the footprint: what lies above it is duplication." : "";
  const sampled = data.runs.some((run) => run.sampled) ? "Of sampled programs: what of all their processes is resident in each memory; the dashed line is the most there was at once." : "";
  const made = section("memory", "Memory in use", `${simulated} ${sampled}`.trim());
  if (!data.memory.length) return made.append(noSamples());
  perRun(made, "By processor", "memory", [label, until, { title: "processor", value: (row) => row.processor, text: true }, { title: "MiB", value: (row) => digits.format(row.mebibytes) }], { extra: (run) => ({ footprint: data.runs[run].footprint / 2 ** 20 }) });
  lending(made);
  if (data.mappings.length) made.append(element("h3", {}, "By mapping"), mappings());
}

// Who keeps how much for whom, where GPUs lend memory.
function lending(made) {
  if (!data.lenders.length) return;
  const lends = new Set(data.lenders.map((row) => row.run));
  perRun(made, "Lent to other GPUs", "lending", [label, until, { title: "who for whom", value: (row) => row.pair, text: true }, { title: "MiB", value: (row) => digits.format(row.mebibytes) }], { only: (run) => lends.has(run) });
  const amount = (title, name) => ({ title, value: (row) => bytes(row[name]) });
  const columns = [{ title: "run", value: (row) => data.runs[row.run].label, text: true }, { title: "who for whom", value: (row) => row.pair, text: true }, amount("sent there", "sent"), amount("kept on average", "mean"), amount("kept at most", "most")];
  made.append(table("Who lends to whom", columns, data.lenders));
}

function mappings() {
  const most = (title, name) => ({ title, value: (row) => bytes(row[`${name}_bytes`]) });
  const columns = [
    { title: "mapping", value: (row) => row.mapping, text: true },
    { ...label },
    { title: "process", value: (row) => row.process },
    { title: "size", value: (row) => bytes(row.bytes) },
    most("resident", "resident"),
    most("shared out", "proportional"),
    most("anonymous", "anonymous"),
    most("in huge pages", "huge"),
    most("swapped", "swap"),
    { title: "from", value: (row) => duration(row.began_ps) },
    { title: "to", value: (row) => duration(row.ended_ps) },
  ];
  return table("Mappings of sampled programs that were largest in memory, and the most of each at any time", columns, data.mappings);
}

// Allocations

// What only profiles know of allocations.
const profiled = [
  ["GPU faults", "gpu_faults"],
  ["fault groups", "fault_groups"],
  ["CPU faults", "cpu_faults"],
]
  .map(([title, name]) => ({ title, value: (row) => known(row[name], number) }))
  .concat([
    { title: "ρ", value: (row) => known(row.rho, digits) },
    { title: "σ", value: (row) => known(row.sigma, digits) },
  ]);

function allocations() {
  if (!data.allocations.length) return;
  const counts = [...data.kinds.names, "remote_lines"];
  const used = counts.filter((name) => data.allocations.some((row) => row[name] > 0));
  const columns = [
    { title: "allocation", value: (row) => row.allocation, text: true },
    { ...label },
    { title: "size", value: (row) => bytes(row.bytes) },
    { title: "GPUs", value: (row) => row.gpus },
    ...used.map((name) => ({ title: words(name), value: (row) => known(row[name], number) })),
    ...(data.allocations.some((row) => "rho" in row) ? profiled : []),
  ];
  const names = [...new Set(data.allocations.map((row) => row.allocation))];
  const rows = [...data.allocations].sort((one, other) => names.indexOf(one.allocation) - names.indexOf(other.allocation));
  section("allocations", "Allocations", "Pages that faulted, moved or were copied, by allocation; remote lines are accesses of 64 bytes to another processor's memory. Of profiles: ρ is how often a page came to a GPU, of those that did; σ the share of pages that came to a GPU or faulted there.", table("Counts by allocation", columns, rows));
}
