// The history of one page: every event, with the state it led to.

const ROWS_AT_ONCE = 200;

class PageHistory {
  constructor(back) {
    this.back = back;
    this.node = element("div", { class: "past", role: "region", "aria-label": "History of a page", hidden: true });
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  show(map, page, chunk, time, moveFocus) {
    const about = map.about;
    const place = page - chunk.first;
    const [start, end] = [chunk.starts[place], chunk.starts[place + 1]];
    const events = Array.from({ length: end - start }, (_, nth) => start + nth);
    const kinds = [...new Set(events.map((event) => chunk.kind[event]))].sort((one, other) => one - other);
    this.state = { map, page, chunk, time, events, chosen: new Set(kinds), limit: ROWS_AT_ONCE, meant: chunk.last(page, time) };
    this.state.limit *= Math.ceil((this.state.meant - start + 1) / ROWS_AT_ONCE) || 1;
    const where = map.allocationOf(page);
    const heading = element("h3", { tabindex: "-1" }, `Page ${address(map.addressOf(page))} of ${where.name}, ${data.runs[map.run].label}`);
    const total = chunk.total[place];
    const cut = total - (end - start);
    const lead = `${number.format(total)} events${cut ? `; ${number.format(cut)} in the middle are left out of this file, see the foot of the page` : ""}. Page ${number.format(page - where.first + 1)} of ${number.format(where.pages)} of this allocation, ${bytes(about.page_bytes)}.`;
    this.body = element("div");
    this.node.replaceChildren(heading, element("p", { class: "lead" }, lead), this.filters(kinds), this.body);
    this.node.hidden = false;
    this.opened = `${address(map.addressOf(page))}@${Math.round(time)}`;
    link.changed();
    this.fill();
    this.scroll();
    if (moveFocus) heading.focus();
    announce(`History of page ${address(map.addressOf(page))}: ${number.format(total)} events`);
  }

  filters(kinds) {
    const boxes = kinds.map((kind) => {
      const box = element("input", { type: "checkbox", checked: true, "data-kind": KINDS[kind] });
      box.addEventListener("change", () => {
        if (box.checked) this.state.chosen.add(kind);
        else this.state.chosen.delete(kind);
        this.fill();
      });
      return element("label", {}, box, words(KINDS[kind]));
    });
    const close = element("button", { type: "button", click: () => this.close() }, "Close");
    return element("div", { class: "tools", role: "group", "aria-label": "Kinds of events to list" }, ...boxes, close);
  }

  fill() {
    const { map, chunk, page, events, chosen, limit } = this.state;
    const gap = chunk.gap(page);
    const wanted = events.filter((event) => chosen.has(chunk.kind[event]));
    const rows = wanted.slice(0, limit);
    const state = (name) => (event) => LAYERS[name].name(chunk[name][event]);
    const columns = [
      { title: "time", value: (event) => (event === gap ? `… ${exactTime(chunk.time[event] * map.about.tick_ps)}` : exactTime(chunk.time[event] * map.about.tick_ps)) },
      { title: "event", value: (event) => words(KINDS[chunk.kind[event]]), text: true },
      { title: "by or from", value: (event) => ends(chunk, event)[0], text: true },
      { title: "to", value: (event) => ends(chunk, event)[1], text: true },
      { title: "then held by", value: state("holder"), text: true },
      { title: "asked for by", value: state("sharing"), text: true },
      { title: "access", value: state("access"), text: true },
      ...(map.hasSchemes ? [{ title: "scheme", value: state("scheme"), text: true }] : []),
    ];
    const caption = `${number.format(wanted.length)} of ${number.format(events.length)} events`;
    const more = element("button", { type: "button", click: () => this.more() }, `Show ${number.format(Math.min(ROWS_AT_ONCE, wanted.length - limit))} more`);
    this.body.replaceChildren(table(caption, columns, rows, (event) => event === this.state.meant), wanted.length > limit ? more : "");
  }

  // Scrolls the list, not the page, to the event at the time that was chosen.
  scroll() {
    const row = this.body.querySelector("tr[aria-current]");
    const list = this.body.querySelector(".scroll");
    if (row) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  }

  more() {
    this.state.limit += ROWS_AT_ONCE;
    this.fill();
  }

  close() {
    this.node.hidden = true;
    this.opened = null;
    link.changed();
    this.back();
  }
}

// Where an event comes from and goes to, in words; schemes change without either.
function ends(chunk, event) {
  const kind = KINDS[chunk.kind[event]];
  const [from, to] = [processor(chunk.source[event]), processor(chunk.target[event])];
  if (kind.startsWith("scheme")) return ["–", "–"];
  if (kind === "discard") return [from, "–"];
  if (REQUESTS.has(chunk.kind[event])) return [from, "driver"];
  return [from, to];
}
