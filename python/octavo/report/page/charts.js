// Charts: a specification, the rows it shows, and the table behind it.

const specifications = JSON.parse(document.getElementById("specifications").textContent);

const colourOfRun = (run) => data.runs[run].colour;
// Of the first run of a colour, the second, and so on.
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [1, 3]];

// A figure with a chart that can be drawn again with other rows, and a table of the rows it shows.
class Chart {
  constructor(name, caption, columns) {
    this.name = name;
    this.caption = caption;
    this.rows = [];
    this.host = element("div", { class: "chart" });
    this.figure = element("figure", { style: "margin:0" }, this.host, tableBehind(caption, columns, () => this.rows));
    if (TIMED.has(name)) keepTime(this);
  }

  async draw(rows, labels = null) {
    this.rows = rows;
    if (!rows.length) return this.clear();
    loadLibrary();
    const specification = structuredClone(specifications[this.name]);
    delete specification.config;
    specification.autosize = { type: "fit-x", contains: "padding" };
    if (specification.height?.step) specification.height = specification.height.step * new Set(rows.map((row) => row.link ?? (specification.encoding?.y?.field === "phase" ? row.phase : row.label))).size;
    if (specification.layer) specification.layer = specification.layer.filter((layer) => drawable(layer, rows));
    specification.description = `${this.caption}. ${rows.length} rows; a table follows.`;
    specification.datasets = { rows: this.dated(rows) };
    this.setWindow(specification);
    if (labels) nameRuns(specification, labels);
    this.prepare?.(specification);
    narrowed(specification, this.host.clientWidth);
    roomForWholes(specification, this.host.clientWidth);
    this.clear();
    this.plot = element("div", { class: "plot" });
    this.host.prepend(this.plot);
    this.drawn = await vegaEmbed(this.plot, specification, {
      renderer: "svg",
      actions: false,
      // Expressions are interpreted: the page may not make code of text.
      ast: true,
      config: specifications.config,
      tooltip: { sanitize: (value) => String(value).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`) },
    });
    const behind = this.figure.querySelector("details");
    if (behind.open) behind.dispatchEvent(new Event("toggle"));
  }

  clear() {
    this.drawn?.finalize();
    this.drawn = null;
    this.plot?.remove();
  }

  // Rows of charts over time as the page counts time.
  dated(rows) {
    if (!TIMED.has(this.name)) return rows;
    const since = rows.map((row) => ({ ...row, from: row.from - timeline.zero(row.run), to: row.to - timeline.zero(row.run) }));
    return STEPPED.has(this.name) ? withBeginnings(since) : since;
  }

  setWindow(specification) {
    const window = { window_from: timeline.from, window_to: timeline.to };
    for (const one of specification.params ?? []) if (one.name in window) one.value = window[one.name];
  }
}

// Names beside bars leave room for the bars; legends and titles take as many lines as they need.
const NAMES_SHARE = 0.42;
const LETTER = 6.2;
const LINE = 13;
// Pixels of a number behind a bar, and of what is around a chart.
const WHOLE = 48;
const MARGIN = 20;

function narrowed(specification, width) {
  for (const { encoding: one } of [specification, ...(specification.layer ?? [])]) {
    if (!one) continue;
    if (one.y?.axis?.labelLimit) foldNames(specification, one.y, width * NAMES_SHARE);
    if (typeof one.x?.title === "string") one.x.title = inLines(one.x.title, (width * (1 - NAMES_SHARE)) / LETTER);
    for (const name of ["color", "strokeDash"]) {
      if (!one[name] || one[name].legend === null || one[name].legend?.type === "gradient") continue;
      const room = width - namesBeside(specification);
      const names = namesOf(specification, one[name]);
      const columns = Math.max(Math.floor(room / (longest(names) * LETTER + 28)), 1);
      one[name].legend = { ...one[name].legend, columns, ...(columns === 1 ? { labelExpr: inTable(names, room - 28) } : {}) };
    }
  }
}

// Wholes stand behind bars made of parts: the axis goes on behind the longest bar.
function roomForWholes(specification, width) {
  const wholes = specification.layer?.find((layer) => layer.encoding.text?.field === "whole");
  if (!wholes) return;
  const lengths = {};
  for (const row of specification.datasets.rows) lengths[row.label] = (lengths[row.label] ?? 0) + row[wholes.encoding.x.field];
  const most = Math.max(...Object.values(lengths));
  const bars = Math.max(width - namesBeside(specification) - MARGIN, WHOLE);
  for (const { encoding } of specification.layer) encoding.x.scale = { domainMax: most / Math.max(1 - WHOLE / bars, 0.5), nice: false };
}

// Names of bars that are too long for one line take several, and all bars the room for them.
function foldNames(specification, y, room) {
  y.axis.labelLimit = Math.min(y.axis.labelLimit, room);
  const names = namesOf(specification, y);
  if (longest(names) * LETTER <= room) return;
  y.axis.labelExpr = inTable(names, room);
  const lines = Math.max(...names.map((name) => inLines(name, room / LETTER).length));
  const bars = new Set(names).size;
  if (typeof specification.height === "number") specification.height = Math.max(specification.height, bars * (lines * LINE + 6));
}

// An expression that looks up the lines of a name.
function inTable(names, room) {
  return `${JSON.stringify(Object.fromEntries(names.map((name) => [name, inLines(name, room / LETTER)])))}[datum.label]`;
}

// Pixels of the names of bars: a legend begins to the right of them.
function namesBeside(specification) {
  const y = [specification, ...(specification.layer ?? [])].map((one) => one.encoding?.y).find((one) => one?.axis?.labelLimit);
  return y ? Math.min(y.axis.labelLimit, longest(namesOf(specification, y)) * LETTER) : 0;
}

// The names of a legend or an axis.
function namesOf(specification, channel) {
  const names = channel.legend?.values ?? channel.scale?.domain ?? specification.datasets.rows.map((row) => row[channel.field.replace(/:.*/, "")]);
  return names.map((name) => String(name ?? ""));
}

// Letters of the longest of some names.
function longest(names) {
  return Math.max(...names.map((name) => name.length), 1);
}

function inLines(text, letters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= letters || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// The charts' library lies in the page as text, so that everything else is there before it is read.
function loadLibrary() {
  if (window.vegaEmbed) return;
  document.head.append(element("script", {}, document.getElementById("library").textContent));
}

// Marks of published values, unless there are none.
function drawable(layer, rows) {
  return layer.mark.type !== "tick" || rows.some((row) => row.published);
}

const TIMED = new Set(["faults", "remote", "walks", "l1miss", "moves", "memory", "lending", "traffic", "hostfaults", "links", "spans"]);

// Lines and areas that step from bin to bin; each bin's value holds from its beginning on, the first one's too.
const STEPPED = new Set(["faults", "remote", "walks", "l1miss", "moves", "memory", "lending", "traffic", "hostfaults"]);

function withBeginnings(rows) {
  const series = new Set();
  const beginnings = [];
  for (const row of rows) {
    const key = `${row.run} ${row.cause} ${row.processor} ${row.kind} ${row.pair} ${row.level}`;
    if (!series.has(key)) beginnings.push({ ...row, to: row.from });
    series.add(key);
  }
  return [...beginnings, ...rows];
}

// Runs keep their colours whichever of them are shown; runs of one colour differ in their dashes.
function nameRuns(specification, labels) {
  const colour = specification.encoding.color;
  colour.scale = { domain: data.runs.map((run) => run.label), range: data.runs.map((_, run) => colourOfRun(run)) };
  colour.legend = { ...colour.legend, values: labels };
  const shades = colour.scale.range;
  const earlier = shades.map((shade, run) => shades.slice(0, run).filter((other) => other === shade).length);
  if (earlier.every((count) => count === 0)) return;
  const range = earlier.map((count) => DASHES[count % DASHES.length]);
  specification.encoding.strokeDash = { ...colour, scale: { domain: colour.scale.domain, range } };
}

// Something that is done when the browser has drawn what it has to, so that long pages open at once.
const queue = [];
let busy = false;

function later(work) {
  queue.push(work);
  if (!busy) {
    busy = true;
    setTimeout(goOn);
  }
}

async function goOn() {
  const work = queue.shift();
  if (work) {
    await work();
    setTimeout(goOn);
    return;
  }
  busy = false;
  document.documentElement.dataset.charts = "drawn";
}
