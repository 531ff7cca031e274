// What was run

// Above all charts: what was run, what was found, and what is shown.
function opening() {
  const groups = [...new Set(data.runs.map((run) => run.group))];
  const runs = `${data.runs.length} run${data.runs.length > 1 ? "s" : ""}`;
  document.getElementById("main").append(
    element("h1", {}, groups.length > 3 ? `${groups.length} workloads, ${runs}` : `${groups.join(", ")}: ${runs}`),
    findings(),
    controls(),
    missing(),
  );
}

// Everything in numbers, below all charts.
function overview() {
  const groups = [...new Set(data.runs.map((run) => run.group))];
  const footprints = data.runs.map((run) => run.footprint);
  section(
    "runs",
    "Runs",
    "Every number on this page comes from the runs' result tables.",
    figures([
      ["GPUs", [...new Set(data.runs.map((run) => run.gpus))].join(", ")],
      ["footprint", groups.length === 1 ? bytes(footprints[0]) : `${bytes(Math.min(...footprints))} – ${bytes(Math.max(...footprints))}`],
      ["page size", [...new Set(data.runs.map((run) => bytes(run.page_bytes)))].join(", ")],
      ["speed-ups over", data.baseline],
    ]),
    runTable(),
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
  const level = rows.filter((row) => row !== best && row.low_ms <= best.high_ms && best.low_ms <= row.high_ms && row.replicates > 1).map((row) => row.variant);
  const tied = level.length ? `, level with ${level.join(", ")} (intervals overlap)` : "";
  const faster = best === base ? `is the fastest${tied}` : `is the fastest, ${digits.format(best.speedup)} times as fast as ${data.baseline}${tied}`;
  const limit = bound && !rows.includes(bound) ? ` (the ideal bound: ${digits.format(bound.speedup)})` : "";
  const goes = (spent) => `${data.spent[spent.cause]} (${percent.format(spent.share)})`;
  const text = ` ${best.variant} ${faster}${limit}. Most of its accesses' time goes ${goes(most)}`;
  const under = most.cause === before.cause ? `, as it does under ${data.baseline} (${percent.format(before.share)})` : `; under ${data.baseline} most goes ${goes(before)}`;
  return element("span", {}, element("strong", {}, `${group}:`), best === base ? `${text}.` : `${text}${under}.`);
}

// Runs that stand side by side as columns, at most.
const MOST_COLUMNS = 6;

const WAIT_COLUMNS = [
  { title: "what for", value: (row) => row.part, text: true },
  { title: "share of the wait", value: (row) => percent.format(row.share) },
  ...["p50", "p95", "p99"].map((name) => ({ title: name, value: (row) => duration(row[`${name}_ps`]) })),
];

// What bound each run, and what its faults waited for; those that are shown first are open; of a sweep or on a small screen, one.
function why() {
  const told = data.runs.map((run, index) => ({ run, index })).filter(({ run }) => run.why.length);
  if (!told.length) return;
  const one = ({ run, index }) =>
    element(
      "details",
      { open: shown.has(index) && ((innerWidth > 700 && !data.sweep) || index === shownInOrder()[0]) },
      element("summary", {}, dot(index), run.label),
      element("ul", { class: "reasons" }, ...run.why.map((sentence) => element("li", {}, sentence))),
      run.waits.length ? tableBehindText(`What faults wait for: ${run.label}`, WAIT_COLUMNS, run.waits) : null,
    );
  section("why", "Why", data.runs.some((run) => run.tried) ? "What bound each run, where it differs from the baseline, and what octavo explain --what-if found to help." : "What bound each run, and where it differs from the baseline. After octavo explain --what-if, a report also says what would help.", waits(), element("div", { class: "why" }, ...told.map(one)));
}

// How long a fault waits on average, and for what.
function waits() {
  const rows = data.runs.flatMap((run) => {
    const whole = run.waits.at(-1)?.mean_ps ?? 0;
    return run.waits.slice(0, -1).map((row, order) => ({ label: run.label, part: row.part, share: row.share, mean_us: (row.share * whole) / 1e6, whole: whole / 1e6, order }));
  });
  if (!rows.length) return null;
  const chart = new Chart("waits", "Mean wait of a fault, by what it waits for", [
    { title: "run", value: (row) => row.label, text: true },
    { title: "what for", value: (row) => row.part, text: true },
    { title: "share", value: (row) => percent.format(row.share) },
    { title: "mean", value: (row) => duration(row.mean_us * 1e6) },
  ]);
  later(() => chart.draw(rows));
  return chart.figure;
}

function runTable() {
  const speedup = new Map(data.speedups.map((row) => [row.run, row.speedup]));
  const count = (name, title = words(name)) => ({ title, value: (run) => known(run[name], number) });
  const columns = [
    { title: "run", value: (run) => element("span", {}, dot(run.number), run.label), text: true },
    { title: "time", value: (run) => duration(run.time_ms * 1e9) },
    ...(data.runs.some((run) => run.replicates > 1) ? [{ title: "interval", value: interval, text: true }] : []),
    { title: "speed-up", value: (run) => (speedup.get(run.number) === null ? "–" : digits.format(speedup.get(run.number))) },
    ...["faults", "migrations", "duplications", "collapses", "remote_maps", "prefetched"].map((name) => count(name)),
    { title: "remote lines", value: (run) => known(run.lines && run.remote_lines / run.lines, percent) },
    { title: "memory of a GPU", value: (run) => (!run.simulated ? "–" : run.capacity === null ? "no limit" : bytes(run.capacity)) },
    { title: "folder", value: (run) => run.folder, text: true },
  ];
  return table(data.runs.some((run) => run.replicates > 1) ? "Runs in numbers: median times; counts are those of the replicate in the middle" : "Runs in numbers", columns, data.runs.map((run, index) => ({ ...run, number: index })));
}

// A number, or a dash where it was not recorded.
function known(value, format) {
  return value === null || value === undefined ? "–" : format.format(value);
}

// Between which times the median of replicates lies, and of how many.
function interval(run) {
  if (run.replicates === 1) return "ran once";
  return `${duration(run.low_ms * 1e9)} – ${duration(run.high_ms * 1e9)}, ${run.replicates} replicates`;
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
