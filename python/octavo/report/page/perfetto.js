// Hands what is shown to the Perfetto timeline: its trace, and the same moment.
//
// Messages as https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui describes them: PING until PONG, the
// trace, then the range in seconds. Pages that are opened from disk have no origin, which Perfetto refuses; it then gets
// the moment alone, in its address.

const PERFETTO = "https://ui.perfetto.dev";
const PING_EVERY = 100;
const PINGS = 300;

// The window of time of a run in nanoseconds since its start, as its trace counts.
function nanoseconds(run) {
  const since = (time) => Math.max(Math.round((time + timeline.zero(run)) * 1e6), 0);
  return [since(timeline.from), since(timeline.to)];
}

function perfettoAddress([from, to]) {
  return `${PERFETTO}/?visStart=${from}&visEnd=${to}`;
}

function perfetto() {
  const runs = data.runs.flatMap((run, index) => (run.simulated ? [index] : []));
  if (!runs.length) return null;
  const choice = element("select", { id: "perfetto-run" }, ...runs.map((run) => element("option", { value: run }, data.runs[run].label)));
  const file = element("input", { type: "file", id: "perfetto-file", accept: ".pftrace,.perfetto-trace" });
  const hand = { window: null, trace: null };
  const go = element("button", { type: "button", click: () => handOver(hand, file.files[0], Number(choice.value)) }, "Show this moment in Perfetto");
  const local = location.protocol === "file:";
  const why = local
    ? notice("This page was opened from disk, and Perfetto takes traces only from pages with an address: it opens at this moment, and asks for the trace. To hand over both, serve the page: ", element("code", {}, "python3 -m http.server"), ".")
    : null;
  file.addEventListener("change", () => Object.assign(hand, { window: null, trace: null }));
  return element(
    "details",
    { class: "choice", id: "perfetto" },
    element("summary", {}, "Perfetto"),
    element("p", {}, "The timeline of a run that was made with ", element("code", {}, "--perfetto trace.pftrace"), ", at the time that this page shows. The trace stays on this machine."),
    element("div", { class: "tools" }, element("label", { for: "perfetto-run" }, "Run", choice), element("label", { for: "perfetto-file" }, "Its trace", file), go),
    why,
  );
}

// The first time with the trace, later with the range alone.
async function handOver(hand, file, run) {
  const range = nanoseconds(run);
  if (hand.window && !hand.window.closed && hand.trace === run) return hand.window.postMessage(rangeMessage(range), PERFETTO);
  hand.window = window.open(perfettoAddress(range));
  if (!hand.window) return announce("the browser blocked the window of Perfetto");
  if (!file || location.protocol === "file:") return announce("Perfetto opens; choose the trace there");
  const buffer = await file.arrayBuffer();
  if (!(await answered(hand.window))) return announce("Perfetto did not answer");
  hand.window.postMessage({ perfetto: { buffer, title: data.runs[run].label, fileName: file.name, keepApiOpen: true } }, PERFETTO);
  hand.window.postMessage(rangeMessage(range), PERFETTO);
  hand.trace = run;
}

function rangeMessage([from, to]) {
  return { perfetto: { timeStart: from / 1e9, timeEnd: to / 1e9, viewPercentage: 1 } };
}

// Whether the window answers PING with PONG before long.
function answered(other) {
  return new Promise((resolve) => {
    let left = PINGS;
    const hear = (event) => {
      if (event.source === other && event.origin === PERFETTO && event.data === "PONG") end(true);
    };
    const end = (found) => {
      clearInterval(timer);
      removeEventListener("message", hear);
      resolve(found);
    };
    const timer = setInterval(() => {
      left -= 1;
      if (left < 0 || other.closed) return end(false);
      other.postMessage("PING", PERFETTO);
    }, PING_EVERY);
    addEventListener("message", hear);
  });
}
