// Advice: where each buffer is to lie, and why.

// A gain in seconds, which may be below 0.
function gain(seconds) {
  return seconds === 0 ? "0" : `${seconds < 0 ? "−" : ""}${duration(Math.abs(seconds) * 1e12)}`;
}

function spread(range) {
  return range.low === range.high ? "–" : `${gain(range.low)} to ${gain(range.high)}`;
}

const ADVISED = [
  { title: "buffer", value: (row) => row.name, text: true },
  { title: "size", value: (row) => bytes(row.size) },
  { title: "now", value: (row) => row.present, text: true },
  { title: "advised", value: (row) => row.advised, text: true, differs: (row) => row.present !== row.advised },
  { title: "gain", value: (row) => gain(row.gain.value) },
  { title: "between", value: (row) => spread(row.gain), text: true },
  { title: "why", value: (row) => row.why, text: true, wrap: true },
  { title: "used", value: (row) => percent.format(row.used) },
  { title: "σ", value: (row) => digits.format(row.sigma) },
  { title: "ρ", value: (row) => digits.format(row.rho) },
  { title: "α", value: (row) => digits.format(row.alpha) },
];

const CANDIDATES = [
  { title: "placements", value: (row) => row.placements, text: true, wrap: true },
  { title: "predicted gain", value: (row) => (row.predicted === null ? "–" : gain(row.predicted)) },
  { title: "time", value: (row) => (row.seconds === null ? "does not fit" : gain(row.seconds)) },
  { title: "", value: (row) => row.roles, text: true },
];

const MARKS = [
  { title: "buffer", value: (row) => row.label, text: true },
  { title: "what", value: (row) => row.what, text: true },
  { title: "from ms", value: (row) => digits.format(row.from) },
  { title: "to ms", value: (row) => digits.format(row.to) },
  { title: "", value: (row) => row.about, text: true, wrap: true },
];

const UNDER = [
  { title: "what", value: (row) => row.what, text: true },
  { title: "placement", value: (row) => row.placement ?? "ceiling", text: true },
  { title: "operations a byte", value: (row) => digits.format(row.alpha) },
  { title: "operations a second", value: (row) => short.format(row.operations) },
];

function advice() {
  if (!data.advice.length) return;
  if (!data.runs.length) document.getElementById("main").append(element("h1", {}, data.advice.map((one) => one.name).join(", ")));
  const made = section("advice", "Advice", "Where each buffer is to lie, from a model of the machine and what is known of the program. Gains are those of the whole program; σ is the share of a buffer's pages that is touched, ρ how often a page comes, α operations for each byte accessed.");
  data.advice.forEach((one) => made.append(...advised(one)));
}

function advised(one) {
  const figure = [
    ["predicted gain", gain(one.gain.value)],
    ["between", spread(one.gain)],
    ["found by simulating both", one.found === null ? "not asked for" : one.found.gain === null ? "does not fit" : gain(one.found.gain)],
    ["regret over the fastest", one.regret === null ? "not asked for" : percent.format(one.regret)],
    ["device memory", bytes(one.budget)],
  ];
  return [
    element("h3", {}, `${one.name} on ${one.node}`),
    figures(figure),
    table(`Buffers of ${one.name}; what changes is marked`, ADVISED, one.buffers),
    ...(one.timeline ? [happened(one)] : []),
    ...(one.points.length ? [roofline(one)] : []),
    ...actions(one),
    ...(one.candidates.length ? [table(`Placements of ${one.name} that were simulated`, CANDIDATES, one.candidates)] : []),
    ...one.notes.map((text) => element("p", { class: "where" }, text)),
  ];
}

function happened(one) {
  const { marks, launches, of } = one.timeline;
  const some = launches ? `the first ${number.format(launches)} of` : "the beginning, before the first of";
  const shown = `${launches < of ? `${some} ` : ""}${number.format(of)} launches`;
  const caption = `What happened to the buffers of ${one.name}, and what is advised: ${shown}. Triangles point down to the device and up to the host; between two launches, marks are spread evenly`;
  const chart = new Chart("program", caption, MARKS);
  // The legend has what there is.
  chart.prepare = ({ layer }) => {
    const scale = layer[0].encoding.color.scale.domain;
    const values = scale.filter((what) => marks.some((mark) => mark.what === what));
    for (const { encoding } of layer) for (const name of ["color", "shape"]) if (encoding[name]) encoding[name].legend = { ...encoding[name].legend, values };
  };
  later(() => chart.draw(marks));
  return card(chart.caption, chart.figure);
}

function roofline(one) {
  const chart = new Chart("roofline", `Buffers of ${one.name} under the ceilings of their advised placements`, UNDER);
  later(() => chart.draw([...one.ceilings, ...one.points]));
  return card(chart.caption, chart.figure);
}

function actions(one) {
  const changed = one.buffers.filter((row) => row.actions.length);
  if (!changed.length) return [element("p", {}, "Nothing needs to change.")];
  const lines = changed.flatMap((row) => row.actions).join("\n");
  const code = element("pre", {}, lines);
  return [element("details", {}, element("summary", {}, "What to write"), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `What to write for ${one.name}` }, code))];
}
