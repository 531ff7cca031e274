// Puts the page together.

function pageMaps() {
  const recorded = Object.keys(data.maps).map(Number);
  const made = section(
    "pages",
    "Page map",
    "Every page of the footprint from top to bottom, simulated time from left to right. From afar a cell has the colour that most of its pages have at its end; near enough, every page and every event is drawn. Click a page for its history.",
  );
  if (!recorded.length && data.runs.every((run) => run.sampled)) return made.append(notice("Sampling tells nothing of single pages."));
  if (!recorded.length) return made.append(notice("No run has recorded events. Run again with ", element("code", {}, "--set record.events=true"), " to see where pages were, and when and why they moved."));
  const past = new PageHistory(() => maps[0].canvas.focus());
  const maps = [new PageMap(asked.maps[0] in data.maps ? asked.maps[0] : recorded[0], "holder", past)];
  timeline.alsoShown = () => maps.map((map) => map.run);
  timeline.settle();
  const grid = element("div", { class: "maps" }, maps[0].node);
  const layers = element("select", { id: "map-colour", change: () => maps.forEach((map) => map.colour(layers.value)) });
  for (const [name, { title }] of Object.entries(LAYERS)) layers.append(element("option", { value: name }, title));
  const two = element("button", { type: "button", "aria-pressed": "false", click: () => second() }, "Second map");
  const second = (run) => beside(maps, grid, recorded, past, two, layers, run);
  made.append(mapTools(maps, layers, two), keys(), grid, past.node, mapTable(maps));
  later(() => maps[0].drawNow());
  link.maps = () => toldOfMaps(maps);
  later(() => asAsked(maps, second, layers));
  document.addEventListener("octavo:colours", () => {
    forgetColours();
    maps.forEach((map) => map.repaint());
  });
}

function mapTools(maps, layers, two) {
  const all = (action) => () => action(maps[0]);
  const jump = element("select", { id: "map-allocation", change: () => showAllocation(maps[0], jump.value) }, element("option", { value: "" }, "whole footprint"));
  maps[0].about.allocations.forEach((one, index) => jump.append(element("option", { value: index }, `${one.name} (${bytes(one.bytes)})`)));
  const goto = element("input", { id: "map-address", size: "12", placeholder: "0x…", spellcheck: "false" });
  goto.addEventListener("keydown", (event) => {
    if (event.key === "Enter") goTo(maps[0], goto);
  });
  return element(
    "div",
    { class: "tools" },
    element("label", { for: "map-colour" }, "Colour", layers),
    element("label", { for: "map-allocation" }, "Show", jump),
    element("label", { for: "map-address" }, "Address", goto),
    button("Zoom in", all((map) => map.view.whole && map.cursor.page === 0 ? centre(map, 0.5) : map.zoomAt(0.5, 0.5))),
    button("Zoom out", all((map) => map.zoomAt(2, 2))),
    button("Reset", all((map) => map.whole())),
    two,
  );
}

function centre(map, factor) {
  map.cursor = { page: Math.floor(map.about.pages / 2), time: map.about.span / 2 };
  map.zoomAt(factor, factor);
}

function showAllocation(map, choice) {
  if (choice === "") return map.whole();
  const one = map.about.allocations[Number(choice)];
  map.cursor = { page: Math.min(one.first, map.about.pages - 1), time: 0 };
  map.view.show(one.first, one.pages, map.view.all.from, map.view.all.span);
  map.changed();
}

function goTo(map, input) {
  const page = map.pageOf(Number(input.value));
  input.setCustomValidity(page < 0 ? "No allocation has a page at this address." : "");
  input.reportValidity();
  if (page >= 0) map.go(page);
}

// A second map beside the first; both show the same pages, and the same time.
function beside(maps, grid, recorded, past, button, layers, run = recorded[Math.min(1, recorded.length - 1)]) {
  const wanted = maps.length === 1;
  if (wanted) {
    maps.push(new PageMap(run, layers.value, past));
    grid.append(maps[1].node);
    maps.forEach((map, index) => {
      map.moved = () => follow(maps[1 - index], map);
    });
    follow(maps[1], maps[0]);
  } else {
    maps.pop().close();
    maps[0].moved = () => {};
  }
  timeline.settle();
  grid.classList.toggle("two", wanted);
  button.setAttribute("aria-pressed", String(wanted));
}

function follow(map, other) {
  const pages = map.about.pages / other.about.pages;
  map.view.show(other.view.first * pages, other.view.pages * pages, map.view.from, map.view.span);
  map.draw();
}

// What page maps show, as the page's address says it.
function toldOfMaps(maps) {
  const { view, layer, past } = maps[0];
  const pages = view.pages === view.all.pages ? {} : { pages: `${exact(view.first)},${exact(view.pages)}` };
  return { maps: maps.map((map) => map.run).join(","), colour: layer, ...pages, ...(past.opened ? { page: past.opened } : {}) };
}

// Shows what the page's address asks for.
function asAsked(maps, second, layers) {
  if (asked.colour in LAYERS) {
    layers.value = asked.colour;
    maps[0].colour(asked.colour);
  }
  if (asked.maps.length > 1 && asked.maps[1] in data.maps) second(asked.maps[1]);
  if (asked.pages) {
    maps[0].view.show(asked.pages.first, asked.pages.pages, maps[0].view.from, maps[0].view.span);
    maps[0].changed();
  }
  if (asked.page) {
    const [address, time] = asked.page.split("@").map(Number);
    const page = maps[0].pageOf(address);
    if (page >= 0) maps[0].select(page, clamp(time || 0, 0, maps[0].about.span), false);
  }
}

function keys() {
  const key = (...names) => names.flatMap((name, index) => [index ? " " : "", element("kbd", {}, name)]);
  return element(
    "p",
    { class: "where", id: "map-keys" },
    "Drag over a part to zoom into it, Shift+drag moves; the wheel zooms when the map has the focus (Shift: time only, Alt: pages only); double-click shows everything. Keys: ",
    ...key("←", "→", "↑", "↓"), " move (Shift: further), ", ...key("+", "−"), " zoom, ", ...key("[", "]"), " pages only, ", ...key(",", "."), " time only, ", ...key("0"), " everything, ", ...key("Enter"), " history.",
  );
}

function mapTable(maps) {
  const rows = () => maps[0].about.allocations;
  return tableBehind("Allocations on the axis; counts of their events stand under Allocations", [
    { title: "allocation", value: (row) => row.name, text: true },
    { title: "address", value: (row) => address(row.address) },
    { title: "size", value: (row) => bytes(row.bytes) },
    { title: "pages", value: (row) => number.format(row.pages) },
  ], rows);
}

function foot() {
  const lines = Object.entries(data.maps).map(([run, about]) => mapFoot(data.runs[run], about)).filter(Boolean);
  const kernels = data.runs.filter((run) => run.launches > run.kernels.length);
  document.getElementById("footer").append(
    element("p", {}, `Octavo ${data.octavo}. Made from result tables alone; this file asks no network for anything.`),
    ...lines.map((line) => element("p", {}, line)),
    kernels.length ? element("p", {}, `Of ${kernels.map((run) => run.label).join(", ")}, the page map marks only the first kernel launches.`) : "",
  );
}

function mapFoot(run, about) {
  if (about.kept_of_a_page === null) return `${run.label}: all ${number.format(about.events)} events of pages are in this file.`;
  const kept = number.format(about.kept_of_a_page);
  return `${run.label}: to bound the size of this file (--max-size), at most ${kept} events of a page are in it, the first and the last half of them: ${number.format(about.events_kept)} of ${number.format(about.events)} events; ${number.format(about.pages_cut)} of ${number.format(about.pages)} pages lost the middle of their history. Gaps show the coarser picture. The Parquet table holds everything.`;
}

// Colours: as the system says, or as chosen; print is light.

function theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let choice = "auto";
  const apply = (forced) => {
    const dark = choice === "auto" ? system.matches : choice === "dark";
    document.documentElement.dataset.theme = forced ?? (dark ? "dark" : "light");
    document.dispatchEvent(new Event("octavo:colours"));
  };
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => {
      choice = button.dataset.themeChoice;
      for (const other of document.querySelectorAll("[data-theme-choice]")) other.setAttribute("aria-pressed", String(other === button));
      apply();
    });
  }
  system.addEventListener("change", () => apply());
  addEventListener("beforeprint", () => apply("light"));
  addEventListener("afterprint", () => apply());
  apply();
}

// What bound the runs first (of a sweep, the charts along its axis), then charts, numbers last.
function ofRuns() {
  opening();
  if (data.sweep) swept();
  why();
  advice();
  speed();
  causes();
  stalls();
  phases();
  pageMaps();
  overTime();
  translation();
  memory();
  allocations();
  overview();
}

theme();
if (data.runs.length) ofRuns();
else advice();
foot();
followLinks();
document.documentElement.dataset.ready = "true";
