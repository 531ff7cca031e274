// The page's address says what it shows, so that it can be sent: #section?runs=0,2&time=1.2-3.4&…

// Runs, time, zero, and what the page maps show, as far as an address says; what makes no sense is left out.
function readLink(hash) {
  const [section, query] = hash.slice(1).split("?");
  const found = new URLSearchParams(query ?? "");
  const list = (name) => (found.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => list(name).map(Number).filter((value) => Number.isFinite(value) && value >= 0);
  const time = /^(-?[\d.e-]+?)~(-?[\d.e-]+)$/.exec(found.get("time") ?? "")?.slice(1).map(Number);
  const whole = (name) => numbers(name).filter(Number.isInteger);
  const [first, pages] = whole("pages");
  return {
    section,
    told: query !== undefined,
    runs: found.has("runs") ? whole("runs") : null,
    time: time?.every(Number.isFinite) && time[0] < time[1] ? time : null,
    zero: found.get("zero"),
    maps: whole("maps"),
    colour: found.get("colour"),
    pages: pages > 0 ? { first, pages } : null,
    page: found.get("page"),
  };
}

// What the page shows, as an address; `maps` tells what page maps show.
const link = {
  section: asked.section,
  maps: () => ({}),

  write() {
    const found = new URLSearchParams();
    found.set("runs", shownInOrder().join(","));
    if (!timeline.whole) found.set("time", `${exact(timeline.from)}~${exact(timeline.to)}`);
    if (data.zeros) found.set("zero", timeline.aligned ? "kernel" : "start");
    for (const [name, value] of Object.entries(link.maps())) found.set(name, value);
    return `#${link.section}?${found.toString().replaceAll("%2C", ",").replaceAll("%7E", "~")}`;
  },

  // A moment later, so that what changes many times a second is written once.
  changed() {
    clearTimeout(link.pending);
    link.pending = setTimeout(() => history.replaceState(null, "", link.write()), 150);
  },
};

const exact = (value) => Number(value.toPrecision(9));

// The section at the top of the window.
function sectionInSight() {
  const all = [...document.querySelectorAll("main section")];
  return (all.findLast((one) => one.getBoundingClientRect().top < innerHeight / 3) ?? all[0])?.id ?? "main";
}

function copyLink() {
  link.section = sectionInSight();
  history.replaceState(null, "", link.write());
  navigator.clipboard?.writeText(location.href).then(() => announce("link copied"), () => announce("the address of the page is the link"));
}

// Follows links within the page, and addresses that are pasted into it.
function followLinks() {
  addEventListener("hashchange", () => {
    const found = readLink(location.hash);
    if (found.told) return location.reload();
    link.section = found.section;
    link.changed();
  });
  timeline.changes.push(link.changed);
  listeners.push(link.changed);
  if (asked.section) later(() => document.getElementById(asked.section)?.scrollIntoView({ behavior: "instant" }));
}
