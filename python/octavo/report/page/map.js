// The page map: address by time, what it listens to and what it tells.

const KEYS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

class PageMap extends MapPicture {
  constructor(run, layer, past) {
    super();
    this.past = past;
    this.layer = layer;
    this.moved = () => {};
    this.canvas = element("canvas", { tabindex: "0", role: "application", "aria-roledescription": "page map", "aria-describedby": "map-keys" });
    this.tip = element("div", { class: "hint", hidden: true });
    this.where = element("p", { class: "where" });
    this.legend = element("ul", { class: "legend" });
    this.runChoice = element("select", { change: () => this.open(Number(this.runChoice.value)) });
    for (const number of Object.keys(data.maps)) this.runChoice.append(element("option", { value: number }, data.runs[number].label));
    this.node = element("div", { class: "map" }, element("div", { class: "tools" }, element("label", {}, "Run", this.runChoice)), this.canvas, this.tip, this.where, this.legend);
    this.listen();
    this.open(run);
    this.keepTime = (source) => source !== this && this.showTime();
    timeline.changes.push(this.keepTime);
    crosshair(this.node, (time) => this.placeOf(time));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  open(run) {
    const before = this.view;
    this.run = run;
    this.runChoice.value = run;
    this.pieces = new Pieces(run);
    this.about = this.pieces.about;
    this.pictures = new Map();
    this.hasSchemes = data.runs[run].schemes;
    this.view = new View(this.about.pages, 0, this.about.span);
    this.showTime();
    if (before && before.all.pages === this.about.pages) this.view.show(before.first, before.pages, this.view.from, this.view.span);
    this.cursor = { page: 0, time: 0 };
    this.canvas.setAttribute("aria-label", `Page map of ${data.runs[run].label}: ${number.format(this.about.pages)} pages by ${duration(this.about.span * this.about.tick_ps)}`);
    this.showLegend();
    this.draw();
  }

  close() {
    timeline.changes.splice(timeline.changes.indexOf(this.keepTime), 1);
    this.node.remove();
  }

  // Ticks of the run at a time of the page, and the other way round.
  ticks(time) {
    return ((time + timeline.zero(this.run)) * 1e9) / this.about.tick_ps;
  }

  timeOf(ticks) {
    return (ticks * this.about.tick_ps) / 1e9 - timeline.zero(this.run);
  }

  // The page's window of time.
  showTime() {
    const least = this.ticks(timeline.least);
    Object.assign(this.view.all, { from: least, span: Math.max(this.ticks(timeline.most) - least, 1) });
    const from = this.ticks(timeline.from);
    this.view.show(this.view.first, this.view.pages, from, this.ticks(timeline.to) - from);
    this.draw();
  }

  // Where a time of the page is on the canvas.
  placeOf(time) {
    const share = (this.ticks(time) - this.view.from) / this.view.span;
    if (!this.area || share < 0 || share > 1) return null;
    const { left, top, width, height } = this.area;
    return { left: left + share * width, top: this.canvas.offsetTop + top, height, turned: share > 0.7 };
  }

  colour(layer) {
    this.layer = layer;
    this.pictures.clear();
    this.showLegend();
    this.draw();
  }

  repaint() {
    this.pictures.clear();
    this.showLegend();
    this.drawNow();
  }

  // What is under a place

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const { left, top, width, height } = this.area;
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top;
    const page = Math.floor(this.view.first + ((y - top) / height) * this.view.pages);
    const time = this.view.from + ((x - left) / width) * this.view.span;
    const inside = x >= left && x <= left + width && y >= top && y <= top + height;
    return { x, y, inside, page: clamp(page, 0, this.about.pages - 1), time: clamp(time, 0, this.about.span) };
  }

  describe(page, time) {
    const chunk = this.chunk(page);
    const where = `${address(this.addressOf(page))} in ${this.allocationOf(page).name}, ${milliseconds(this.timeOf(time))}`;
    if (!chunk) return `${where}: unpacking`;
    const event = chunk.last(page, time);
    const total = number.format(chunk.total[page - chunk.first]);
    const gap = chunk.gap(page);
    if (gap >= 0 && event + 1 === gap) return `${where}: events here are left out of this file; ${total} events in all`;
    const before = event < chunk.starts[page - chunk.first];
    const state = (name) => LAYERS[name].name(before ? 0 : chunk[name][event]);
    const scheme = this.hasSchemes ? `, scheme ${state("scheme")}` : "";
    return `${where}: held by ${state("holder")}, asked for by ${state("sharing")}, ${state("access")}${scheme}; ${total} events in all`;
  }

  // Listening

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      timeline.point(null);
    });
    canvas.addEventListener("dblclick", () => this.whole());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
  }

  press(event) {
    const at = this.at(event);
    this.pressed = { ...at, pan: event.shiftKey || event.button === 1 };
    this.canvas.setPointerCapture(event.pointerId);
  }

  hover(event) {
    const at = this.at(event);
    if (this.pressed && Math.hypot(at.x - this.pressed.x, at.y - this.pressed.y) > 4) return this.drag(at);
    this.tip.hidden = !at.inside;
    timeline.point(at.inside ? this.timeOf(at.time) : null);
    if (!at.inside) return;
    this.tip.textContent = this.describe(at.page, at.time);
    this.tip.style.left = `${Math.max(Math.min(at.x + 14, this.canvas.clientWidth - 250), 0)}px`;
    this.tip.style.top = `${this.canvas.offsetTop + at.y + 16}px`;
  }

  drag(at) {
    this.tip.hidden = true;
    if (this.pressed.pan) {
      this.view.move(((this.pressed.y - at.y) / this.area.height) * this.view.pages, ((this.pressed.x - at.x) / this.area.width) * this.view.span);
      this.pressed = { ...at, pan: true, dragged: true };
      return this.changed();
    }
    this.pressed.dragged = true;
    this.drawNow();
    const context = this.canvas.getContext("2d");
    context.strokeStyle = this.ink("--ink");
    context.fillStyle = "rgb(128 128 128 / 25%)";
    context.fillRect(this.pressed.x, this.pressed.y, at.x - this.pressed.x, at.y - this.pressed.y);
    context.strokeRect(this.pressed.x, this.pressed.y, at.x - this.pressed.x, at.y - this.pressed.y);
  }

  release(event) {
    const pressed = this.pressed;
    this.pressed = null;
    if (!pressed) return;
    const at = this.at(event);
    if (!pressed.dragged) return this.select(at.page, at.time, false);
    if (pressed.pan) return;
    const first = Math.min(pressed.page, at.page);
    this.view.show(first, Math.abs(pressed.page - at.page) + 1, Math.min(pressed.time, at.time), Math.abs(pressed.time - at.time));
    this.changed();
  }

  // The wheel zooms once the map has the focus, or with Ctrl; otherwise the page scrolls. Shift: time only, Alt: pages only.
  wheel(event) {
    if (document.activeElement !== this.canvas && !event.ctrlKey) return;
    event.preventDefault();
    const at = this.at(event);
    const factor = Math.exp(clamp(event.deltaY || event.deltaX, -200, 200) / 300);
    this.view.zoom(event.shiftKey ? 1 : factor, event.altKey ? 1 : factor, at.page + 0.5, at.time);
    this.changed();
  }

  key(event) {
    const { page, time } = this.cursor;
    const move = KEYS[event.key];
    if (move) this.stepBy(move, event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoomAt(0.5, 0.5);
    else if (event.key === "-") this.zoomAt(2, 2);
    else if (event.key === "[") this.zoomAt(2, 1);
    else if (event.key === "]") this.zoomAt(0.5, 1);
    else if (event.key === ",") this.zoomAt(1, 2);
    else if (event.key === ".") this.zoomAt(1, 0.5);
    else if (event.key === "0" || event.key === "Home") this.whole();
    else if (event.key === "Enter") this.select(page, time, true);
    else return;
    event.preventDefault();
  }

  stepBy([down, right], far) {
    const pages = Math.max(Math.round(this.view.pages / (far ? 8 : 48)), 1);
    const time = this.view.span / (far ? 8 : 48);
    this.cursor.page = clamp(this.cursor.page + down * pages, 0, this.about.pages - 1);
    this.cursor.time = clamp(this.cursor.time + right * time, 0, this.about.span);
    this.view.follow(this.cursor.page, this.cursor.time);
    this.changed();
    announce(this.describe(this.cursor.page, this.cursor.time));
  }

  zoomAt(pages, time) {
    this.view.zoom(pages, time, this.cursor.page + 0.5, this.cursor.time);
    this.changed();
    announce(`${number.format(this.view.pages)} pages, ${duration(this.view.span * this.about.tick_ps)}`);
  }

  whole() {
    this.view.reset();
    this.changed();
    announce("Whole footprint");
  }

  go(page) {
    const pages = Math.min(this.view.pages, 48);
    this.cursor = { page, time: this.cursor.time };
    this.view.show(page - pages / 2, pages, this.view.from, this.view.span);
    this.changed();
  }

  async select(page, time, moveFocus) {
    this.cursor = { page, time };
    this.selected = true;
    this.draw();
    while (!this.chunk(page)) await new Promise((resume) => setTimeout(resume, 10));
    this.past.show(this, page, this.chunk(page), time, moveFocus);
    if (!moveFocus) this.canvas.focus({ preventScroll: true });
  }

  changed() {
    this.draw();
    this.moved(this);
    timeline.set(this.timeOf(this.view.from), this.timeOf(this.view.from + this.view.span), this);
  }
}
