// What happened over time, and where memory was: links, translation, memory.

const until = { title: "until ms", value: (row) => digits.format(row.to) };

// A chart of one field of rows: rows without it are not drawn.
const of = (field, chart) => Object.assign(chart, { field });

function overTime() {
  const field = (name, title, format = digits) => [label, until, { title, value: (row) => (row[name] === null ? "–" : format.format(row[name])) }];
  const lines = [
    of("faults", new Chart("faults", "Faults per millisecond", field("faults", "faults per ms"))),
    of("remote_bytes", new Chart("remote", "Remote lines in gigabytes per second", field("remote_bytes", "GB/s"))),
  ];
  const made = section("over-time", "Over time", "All charts share one axis of time: drag to move along it, hold Shift and turn the wheel to zoom, double-click to see everything again; or use the buttons at the top.");
  hostFaults(made);
  if (!data.rates.length) return data.host_faults.length ? null : made.append(noSamples());
  made.append(element("div", { class: "grid" }, ...lines.map((chart) => card(chart.caption, chart.figure))));
  overlay(lines, "rates");
  perRun(made, "Pages moved, by cause", "moves", [label, until, { title: "cause", value: (row) => row.cause, text: true }, { title: "pages per ms", value: (row) => digits.format(row.pages) }], { only: notSampled });
  traffic(made);
  perRun(made, "Use of links", "links", [label, until, { title: "link", value: (row) => row.link, text: true }, { title: "busy", value: (row) => percent.format(row.busy) }, { title: "GB/s", value: (row) => digits.format(row.bytes) }], { only: (run) => data.runs[run].simulated, prepare: busiest });
}

// Colours of links end at the busiest of the page, for all runs alike.
function busiest(specification) {
  const most = Math.max(...data.links.map((row) => row.busy), 1e-3);
  specification.encoding.color.scale.domain = [0, most];
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
  const made = section("translation", "Translation", "Reach is how much memory the entries of a TLB cover. Hits on entries that are still being filled count as hits; a miss needs no walk of its own if a fault of its GPU on the page is under way.");
  if (data.rates.length) missesOverTime(made);
  made.append(table("TLB reach and misses", columns, rows));
}

function missesOverTime(made) {
  const share = (name, title) => [label, until, { title, value: (row) => (row[name] === null ? "–" : percent.format(row[name])) }];
  const charts = [
    of("l1_miss", new Chart("l1miss", "First-level misses per translation", share("l1_miss", "misses"))),
    of("walks", new Chart("walks", "Page-table walks per translation", share("walks", "walks"))),
  ];
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
