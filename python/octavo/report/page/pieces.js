// The pieces of a page map: they lie in the page as text and are unpacked when they are needed. Unpacked ones are kept:
// the size of the file bounds how much that is.

class Pieces {
  constructor(run) {
    this.about = data.maps[run];
    this.text = null;
    this.run = run;
    this.unpacked = new Map();
  }

  // What `make` makes of the piece at `place`; `undefined` while it is being unpacked, when `ready` will be called.
  get(place, make, ready) {
    const key = place[0];
    const found = this.unpacked.get(key);
    if (found !== undefined) return found.value;
    this.unpacked.set(key, { value: undefined });
    this.load(place).then((bytes) => {
      this.unpacked.set(key, { value: make(bytes) });
      ready();
    });
    return undefined;
  }

  async load([offset, length]) {
    this.text ??= document.getElementById(`map-${this.run}`).textContent;
    const binary = atob(this.text.slice(offset, offset + length));
    const packed = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
}

// Events of some neighbouring pages, as `pack.py` writes them.
class Chunk {
  constructor(bytes, first, pages, tick) {
    this.first = first;
    const counts = joined(bytes, 0, pages);
    this.total = counts;
    this.kept = joined(bytes, 4 * pages, pages);
    this.starts = new Uint32Array(pages + 1);
    for (let page = 0; page < pages; page += 1) this.starts[page + 1] = this.starts[page] + this.kept[page];
    const events = this.starts[pages];
    let at = 8 * pages;
    this.time = new Float64Array(joined(bytes, at, events));
    at += 4 * events;
    for (const name of ["kind", "source", "target", "holder", "sharing", "access", "scheme"]) {
      this[name] = bytes.subarray(at, at + events);
      at += events;
    }
    for (let page = 0; page < pages; page += 1) {
      for (let event = this.starts[page] + 1; event < this.starts[page + 1]; event += 1) this.time[event] += this.time[event - 1];
    }
    this.tick = tick;
  }

  // Index of the last event of a page at or before a time, or one less than its first event.
  last(page, time) {
    let low = this.starts[page - this.first];
    let high = this.starts[page - this.first + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // Where a page's history has a gap: the first event after it; -1 if nothing was left out.
  gap(page) {
    const place = page - this.first;
    if (this.total[place] === this.kept[place]) return -1;
    return this.starts[place] + Math.ceil(this.kept[place] / 2);
  }
}

// 32-bit numbers whose bytes are sorted by weight.
function joined(bytes, at, count) {
  const numbers = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) {
    numbers[index] = (bytes[at + index] | (bytes[at + count + index] << 8) | (bytes[at + 2 * count + index] << 16) | (bytes[at + 3 * count + index] << 24)) >>> 0;
  }
  return numbers;
}
