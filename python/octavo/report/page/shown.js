// What the page shows: which runs, and which part of the time. All charts over time and both page maps share it.

const MOST_SHOWN = 4;
const asked = readLink(location.hash);
const wanted = (asked.runs ?? []).filter((run) => run < data.runs.length);
const shown = new Set(wanted.length ? wanted : data.runs.map((_, run) => run).slice(0, MOST_SHOWN));
const listeners = [];

function whenShownChange(listener) {
  listeners.push(listener);
  listener();
}

function show(run, wanted) {
  if (wanted) shown.add(run);
  else shown.delete(run);
  timeline.settle();
  listeners.forEach((listener) => listener());
  announce(`${shown.size} runs shown`);
}

const shownInOrder = () => [...shown].sort((one, other) => one - other);

// Times are milliseconds since each run's zero: its beginning, or the begin of its first kernel.
class Timeline {
  constructor() {
    this.aligned = (asked.zero ?? (data.runs.some((run) => run.simulated) && data.runs.some((run) => !run.simulated) ? "kernel" : "start")) === "kernel";
    this.changes = [];
    this.pointers = [];
    this.alsoShown = () => [];
    this.least = 0;
    this.most = 1;
    this.whole = true;
    this.settle();
    if (asked.time) this.set(...asked.time);
  }

  zero(run) {
    return this.aligned ? data.runs[run].zero_ms : 0;
  }

  // Takes in all runs that are shown; who saw everything sees everything.
  settle() {
    const runs = [...shown, ...this.alsoShown()];
    this.least = runs.length ? Math.min(...runs.map((run) => -this.zero(run))) : 0;
    this.most = runs.length ? Math.max(...runs.map((run) => data.runs[run].time_ms - this.zero(run))) : 1;
    if (this.whole) this.reset();
    else this.set(this.from, this.to);
  }

  reset() {
    this.set(this.least, this.most);
  }

  // `source` knows already.
  set(from, to, source = null) {
    const all = Math.max(this.most - this.least, 1e-9);
    const span = clamp(to - from, all / 1e6, all);
    this.from = clamp((from + to - span) / 2, this.least, this.most - span);
    this.to = this.from + span;
    this.whole = span > all * (1 - 1e-9);
    this.changes.forEach((listener) => listener(source));
  }

  zoom(factor, around) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  move(share) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  }

  align(aligned) {
    this.aligned = aligned;
    this.whole = true;
    this.settle();
    listeners.forEach((listener) => listener());
  }

  // The moment under the pointer, for every crosshair; `null` if it is nowhere.
  point(time) {
    this.pointers.forEach((listener) => listener(time));
  }
}

const timeline = new Timeline();

// A line across a chart or map at the moment under the pointer; `place` says where on it that is in pixels, if it is.
function crosshair(host, place) {
  const line = element("div", { class: "cross", hidden: true, "aria-hidden": "true" });
  host.append(line);
  timeline.pointers.push((time) => {
    const found = time === null ? null : place(time);
    line.hidden = found === null;
    if (found === null) return;
    line.style.left = `${found.left}px`;
    line.style.top = `${found.top}px`;
    line.style.height = `${found.height}px`;
    line.dataset.time = milliseconds(time);
    line.classList.toggle("turned", found.turned);
  });
}
