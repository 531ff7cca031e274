// How a page map is drawn: from tiles far away, from the events of single pages near, with its axes.

const GUTTER = 172;
const NARROW_GUTTER = 92;
const NARROW = 600;
const ADDRESSES = 76;
const TICK_PIXELS = 3;
const STRIP = 16;
const FOOT = 26;
// Half the height of a name beside the map: names of small buffers at its edges stay whole.
const HALF_LINE = 7;
const KEPT_PICTURES = 400;

// Draws `run` in `view`, coloured by `layer`, into `canvas`.
class MapPicture {
  // Pages and addresses

  allocationOf(page) {
    return this.about.allocations.findLast((one) => one.first <= page && one.pages > 0) ?? this.about.allocations[0];
  }

  addressOf(page) {
    const where = this.allocationOf(page);
    return (where.start + page - where.first) * this.about.page_bytes;
  }

  pageOf(value) {
    const page = Math.floor(value / this.about.page_bytes);
    const where = this.about.allocations.find((one) => one.start <= page && page < one.start + one.pages);
    return where ? where.first + page - where.start : -1;
  }

  chunk(page) {
    const { chunk_pages: pages, chunks, tick_ps: tick } = this.about;
    const first = Math.floor(page / pages) * pages;
    const make = (bytes) => new Chunk(bytes, first, Math.min(pages, this.about.pages - first), tick);
    return this.pieces.get(chunks[first / pages], make, () => this.draw());
  }

  // Pictures

  draw() {
    this.pending ??= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.pending);
    this.pending = null;
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
    this.area = { left: gutter, top: STRIP, width: width - gutter - 8, height: height - STRIP - FOOT };
    const style = getComputedStyle(document.documentElement);
    this.ink = (name) => style.getPropertyValue(name).trim();
    context.clearRect(0, 0, width, height);
    this.drawPages(context);
    this.drawAllocations(context);
    this.drawTime(context);
    this.drawCursor(context);
    const { first, pages, from, span } = this.view;
    this.where.textContent = `${number.format(pages)} of ${number.format(this.about.pages)} pages (${bytes(pages * this.about.page_bytes)}) from ${address(this.addressOf(Math.floor(first)))}; ${duration(span * this.about.tick_ps)} from ${milliseconds(this.timeOf(from))}${this.near ? "; single pages" : `; rows of ${this.step} page${this.step > 1 ? "s" : ""}`}`;
    this.canvas.dataset.near = this.near;
    this.canvas.dataset.pages = Math.round(pages);
    this.canvas.dataset.span = Math.round(span);
  }

  drawPages(context) {
    const { left, top, width, height } = this.area;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.fillStyle = this.ink("--panel");
    context.fillRect(left, top, width, height);
    context.imageSmoothingEnabled = false;
    this.near = this.view.pages <= height * (window.devicePixelRatio || 1);
    this.drawTiles(context, 0);
    const level = this.level();
    if (level > 0) this.drawTiles(context, level);
    this.step = this.about.levels[level].step;
    if (this.near) this.drawNear(context);
    context.restore();
  }

  // The coarsest level that still has a cell for every three pixels; the finest if none has.
  level() {
    const { levels, pages } = this.about;
    const fine = (level) =>
      (level.rows * this.view.pages) / pages >= Math.min(this.area.height / 3, this.view.pages) &&
      (level.columns * this.view.span) / this.about.span >= this.area.width / 3;
    const found = levels.findIndex(fine);
    return found < 0 ? levels.length - 1 : found;
  }

  drawTiles(context, number) {
    const level = this.about.levels[number];
    const [tileRows, tileColumns] = this.about.tile;
    const perColumn = this.about.span / level.columns;
    for (const [row, column, ...place] of level.tiles) {
      const rows = Math.min(tileRows, level.rows - row * tileRows);
      const columns = Math.min(tileColumns, level.columns - column * tileColumns);
      const first = row * tileRows * level.step;
      const from = column * tileColumns * perColumn;
      const box = this.box(first, rows * level.step, from, columns * perColumn);
      if (!this.inSight(box)) continue;
      const picture = this.tile(place, rows, columns);
      if (picture) context.drawImage(picture, box.x, box.y, box.width, box.height);
    }
  }

  tile(place, rows, columns) {
    const key = `tile ${place[0]}`;
    if (!this.pictures.has(key)) {
      const cells = this.pieces.get(place, (bytes) => bytes, () => this.draw());
      if (!cells) return null;
      const at = this.about.layers.indexOf(this.layer) * rows * columns;
      this.keep(key, paintTile(cells.subarray(at, at + rows * columns), rows, columns, this.layer));
    }
    return this.pictures.get(key);
  }

  keep(key, picture) {
    if (this.pictures.size > KEPT_PICTURES) this.pictures.delete(this.pictures.keys().next().value);
    this.pictures.set(key, picture);
  }

  drawNear(context) {
    const first = Math.floor(this.view.first);
    const rows = Math.min(Math.ceil(this.view.first + this.view.pages), this.about.pages) - first;
    // Nothing is known before the run and after it.
    const from = Math.max(this.view.from, 0);
    const span = Math.min(this.view.from + this.view.span, this.about.span) - from;
    if (span <= 0) return;
    // Single events are drawn wide enough to be seen.
    const fine = LAYERS[this.layer].activity ? 1 / TICK_PIXELS : window.devicePixelRatio || 1;
    const columns = Math.max(Math.round((this.area.width * fine * span) / this.view.span), 1);
    const picture = paintPages((page) => this.chunk(page), first, rows, from, span, columns, this.layer);
    const box = this.box(first, rows, from, span);
    context.drawImage(picture, box.x, box.y, box.width, box.height);
  }

  box(first, pages, from, span) {
    const { left, top, width, height } = this.area;
    return {
      x: left + ((from - this.view.from) / this.view.span) * width,
      y: top + ((first - this.view.first) / this.view.pages) * height,
      width: (span / this.view.span) * width,
      height: (pages / this.view.pages) * height,
    };
  }

  inSight(box) {
    const { left, top, width, height } = this.area;
    return box.x < left + width && box.x + box.width > left && box.y < top + height && box.y + box.height > top;
  }

  // Allocations as bands with their names; addresses of pages once they are far enough apart.
  drawAllocations(context) {
    const { left, top, width, height } = this.area;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const room = this.showsAddresses ? left - 6 - ADDRESSES : left - 10;
    let last = -Infinity;
    this.about.allocations.forEach((one, index) => {
      const box = this.box(one.first, one.pages, this.view.from, this.view.span);
      const from = Math.max(box.y, top);
      const until = Math.min(box.y + box.height, top + height);
      if (until <= from) return;
      context.fillStyle = this.ink(index % 2 ? "--line" : "--panel");
      context.fillRect(0, from, left - 6, until - from);
      context.fillStyle = this.ink("--ink");
      const middle = clamp((from + until) / 2, top + HALF_LINE, top + height - HALF_LINE);
      if (middle - last >= 13 && room > ADDRESSES / 2) {
        context.fillText(fitting(context, one.name, room - 8), 6, middle);
        last = middle;
      }
      if (box.y > top) {
        context.fillStyle = this.ink("--paper");
        context.fillRect(left, box.y - 0.5, width, 1);
      }
    });
    this.drawAddresses(context);
  }

  get showsAddresses() {
    return this.area.height / this.view.pages >= 13;
  }

  drawAddresses(context) {
    const { left, top, height } = this.area;
    const each = height / this.view.pages;
    if (!this.showsAddresses) return;
    context.font = "11px ui-monospace, monospace";
    context.textAlign = "right";
    for (let page = Math.floor(this.view.first); page < this.view.first + this.view.pages && page < this.about.pages; page += 1) {
      const y = top + (page + 0.5 - this.view.first) * each;
      if (y < top || y > top + height) continue;
      context.fillStyle = this.ink("--soft");
      context.fillText(address(this.addressOf(page)), left - 9, y);
    }
    context.textAlign = "left";
  }

  drawTime(context) {
    const { left, top, width, height } = this.area;
    const time = (picoseconds) => left + ((picoseconds / this.about.tick_ps - this.view.from) / this.view.span) * width;
    context.save();
    context.beginPath();
    context.rect(left, 0, width, top + height + FOOT);
    context.clip();
    context.font = "11px system-ui, sans-serif";
    data.runs[this.run].kernels.forEach(([name, began, ended], index) => {
      const [from, until] = [Math.max(time(began), left), Math.min(time(ended), left + width)];
      if (until < from) return;
      context.fillStyle = this.ink(index % 2 ? "--line" : "--panel");
      context.fillRect(from, 0, Math.max(until - from, 1), STRIP - 2);
      context.fillStyle = this.ink("--soft");
      if (until - from > 40) context.fillText(shortened(name, Math.floor((until - from) / 7)), from + 4, STRIP / 2 - 1);
    });
    context.restore();
    this.drawTicks(context);
  }

  drawTicks(context) {
    const { left, top, width, height } = this.area;
    const [from, to] = [this.timeOf(this.view.from), this.timeOf(this.view.from + this.view.span)];
    const step = niceStep((to - from) / Math.max(width / 110, 2));
    const place = (time) => left + ((time - from) / (to - from)) * width;
    context.fillStyle = this.ink("--soft");
    context.textAlign = "center";
    for (let nth = Math.ceil(from / step); nth * step <= to; nth += 1) {
      const x = place(nth * step);
      context.fillRect(x, top + height, 1, 4);
      context.fillText(milliseconds(nth * step), clamp(x, left + 12, left + width - 18), top + height + 15);
    }
    context.textAlign = "left";
  }

  drawCursor(context) {
    if (document.activeElement !== this.canvas && !this.selected) return;
    const { left, top, width, height } = this.area;
    const mark = (page, time) => {
      const box = this.box(page, 1, time, 0);
      context.strokeStyle = this.ink("--ink");
      context.lineWidth = 1.5;
      context.strokeRect(left, clamp(box.y, top, top + height), width, Math.max(box.height, 2));
      context.beginPath();
      context.moveTo(clamp(box.x, left, left + width), top);
      context.lineTo(clamp(box.x, left, left + width), top + height);
      context.stroke();
    };
    mark(this.cursor.page, this.cursor.time);
  }

  showLegend() {
    const { title, activity, name, codes } = LAYERS[this.layer];
    const entries = activity
      ? [0, ...STEPS_OF_ACTIVITY].map((count) => [activityCode(count), count === 0 ? `no ${title}` : `${count} in a cell`])
      : codes(this.about).map((code) => [code, name(code)]);
    this.legend.replaceChildren(...entries.map(([code, text]) => element("li", {}, element("i", { style: `background:${css(this.layer, code)}`, "aria-hidden": "true" }), text)));
    if (this.layer === "scheme" && !this.hasSchemes) this.legend.append(element("li", {}, "This run's placement keeps no schemes."));
  }
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, Math.max(most - 1, 1))}…` : text;
}

// As much of a text as is no wider than `width`.
function fitting(context, text, width) {
  let most = text.length;
  while (most > 1 && context.measureText(shortened(text, most)).width > width) most -= 1;
  return shortened(text, most);
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}
