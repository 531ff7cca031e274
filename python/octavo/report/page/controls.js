// What is above all charts: which runs and which time they show.

function controls() {
  const time = element(
    "div",
    { class: "group", role: "group", "aria-label": "Time shown" },
    timeField("from"),
    "to",
    timeField("to"),
    "ms",
    button("−", () => timeline.zoom(2, (timeline.from + timeline.to) / 2), "Show more time"),
    button("+", () => timeline.zoom(0.5, (timeline.from + timeline.to) / 2), "Show less time"),
    button("◀", () => timeline.move(-0.5), "Earlier"),
    button("▶", () => timeline.move(0.5), "Later"),
    button("Whole time", () => timeline.reset()),
  );
  const made = element("div", { class: "controls tools", role: "group", "aria-label": "What is shown" }, runChoice(), time, zeroChoice(), button("Copy link", copyLink, "Copy the address of what is shown"), perfetto());
  new ResizeObserver(() => keepClear(made)).observe(made);
  return made;
}

// What is scrolled to stops below what stays at the top.
function keepClear(made) {
  const stays = getComputedStyle(made).position === "sticky" ? made.offsetHeight : 0;
  document.documentElement.style.scrollPaddingTop = `${document.querySelector("header").offsetHeight + stays}px`;
}

function button(text, action, title) {
  return element("button", { type: "button", click: action, title: title ?? text, "aria-label": title ?? text }, text);
}

// One end of the window of time, as a number that can be written.
function timeField(end) {
  const field = element("input", { type: "text", inputmode: "decimal", size: "7", "aria-label": end === "from" ? "Time shown from, in ms" : "Time shown to, in ms" });
  const fill = () => {
    if (document.activeElement !== field) field.value = Number(timeline[end].toPrecision(6));
  };
  field.addEventListener("change", () => {
    const value = Number(field.value);
    const [from, to] = end === "from" ? [value, timeline.to] : [timeline.from, value];
    const wrong = !Number.isFinite(value) || from >= to;
    field.setCustomValidity(wrong ? `Expected a number of milliseconds ${end === "from" ? "below the end" : "above the beginning"}.` : "");
    if (wrong) return field.reportValidity();
    timeline.set(from, to);
  });
  field.addEventListener("blur", fill);
  timeline.changes.push(fill);
  fill();
  return field;
}

function runChoice() {
  const summary = element("summary");
  const count = () => {
    summary.textContent = `Runs shown: ${shown.size} of ${data.runs.length}`;
  };
  const boxes = data.runs.map((run, index) => {
    const box = element("input", { type: "checkbox", id: `show-${index}`, checked: shown.has(index) });
    box.addEventListener("change", () => show(index, box.checked));
    return element("li", {}, element("label", { for: `show-${index}` }, box, " ", dot(index), run.label));
  });
  const details = element("details", { class: "choice", open: data.runs.length <= MOST_SHOWN }, summary, element("ul", {}, ...boxes));
  whenShownChange(count);
  return details;
}

const dot = (run) => element("span", { class: "dot", style: `background:${colourOfRun(run)}`, "aria-hidden": "true" });

// Where time begins, if runs differ in when their first kernel begins.
function zeroChoice() {
  if (!data.zeros) return null;
  const choice = element("select", { id: "zero", change: () => timeline.align(choice.value === "kernel") });
  choice.append(element("option", { value: "start" }, "each run's start"), element("option", { value: "kernel", selected: timeline.aligned }, "each run's first kernel"));
  return element("label", { for: "zero" }, "Time from", choice);
}
