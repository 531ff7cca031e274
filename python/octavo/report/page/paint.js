// Colours of states, and pictures made of them: from tiles, and from single events.

const REPLICATED = 255;
// Kinds of events by code, and codes of those that ask for pages and of those that copy them.
const KINDS = data.kinds.names;
const REQUESTS = new Set(data.kinds.requests.map((name) => KINDS.indexOf(name)));
const COPIES = new Set(data.kinds.copies.map((name) => KINDS.indexOf(name)));

// What can be coloured: names of states by code, and the colours they take.
const LAYERS = {
  holder: {
    title: "owner",
    name: (code) => (code === REPLICATED ? "several processors" : processor(code)),
    colour: (code) => (code === REPLICATED ? "--several" : `--processor-${code === 0 ? 0 : 1 + ((code - 1) % 16)}`),
    codes: (about) => [...Array(about.processors).keys(), REPLICATED],
  },
  sharing: {
    title: "sharing",
    name: (code) => (code === 0 ? "no GPU has asked" : code === 1 ? "one GPU (private)" : `${code} GPUs`),
    colour: (code) => (code === 0 ? "--line" : `--sharing-${Math.min(code, 6)}`),
    codes: (about) => [...Array(about.processors).keys()],
  },
  access: {
    title: "read / write",
    name: (code) => ["no GPU has asked", "only reads so far", "written"][code],
    colour: (code) => (code === 0 ? "--line" : `--access-${code}`),
    codes: () => [0, 1, 2],
  },
  scheme: {
    title: "scheme",
    name: (code) => ["no scheme", "on-touch", "access counter", "duplication"][code],
    colour: (code) => (code === 0 ? "--line" : `--scheme-${code}`),
    codes: () => [0, 1, 2, 3],
  },
  requests: { title: "faults and notifications", activity: REQUESTS },
  copies: { title: "copies", activity: COPIES },
};

const STEPS_OF_ACTIVITY = [1, 2, 4, 16, 64, 256, 1024];

// As `activity` in tiles.py: 0 for none, otherwise 1 + 15 · log₂ of the count.
function activityCode(count) {
  return count === 0 ? 0 : Math.min(255, Math.floor(1 + 15 * Math.log2(count)));
}

let colours = null;

// Every code's colour in every layer, as a pixel; made again when the colours of the page change.
function palette(layer) {
  colours ??= new Map();
  if (!colours.has(layer)) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => parseInt(style.getPropertyValue(name).trim().slice(1), 16);
    const { activity, colour } = LAYERS[layer];
    const codes = new Uint32Array(256);
    for (let code = 0; code < 256; code += 1) {
      codes[code] = pixel(activity ? heat(read, code) : read(safely(colour, code)));
    }
    colours.set(layer, codes);
  }
  return colours.get(layer);
}

const safely = (colour, code) => colour(code) ?? "--line";

function heat(read, code) {
  return code === 0 ? read("--panel") : between(read("--activity-1"), read("--activity-2"), read("--activity-3"), code / 120);
}

function forgetColours() {
  colours = null;
}

function between(low, middle, high, share) {
  const [from, to, part] = share < 0.5 ? [low, middle, share * 2] : [middle, high, Math.min(share * 2 - 1, 1)];
  const mix = (shift) => Math.round(((from >> shift) & 255) * (1 - part) + ((to >> shift) & 255) * part);
  return (mix(16) << 16) | (mix(8) << 8) | mix(0);
}

// 0xRRGGBB as the bytes of an opaque pixel.
function pixel(colour) {
  return ((255 << 24) | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}

function css(layer, code) {
  const value = palette(layer)[code];
  return `rgb(${value & 255} ${(value >> 8) & 255} ${(value >> 16) & 255})`;
}

// A tile's layer as a picture of its cells.
function paintTile(cells, rows, columns, layer) {
  const colour = palette(layer);
  return picture(columns, rows, (pixels) => {
    for (let cell = 0; cell < rows * columns; cell += 1) pixels[cell] = colour[cells[cell]];
  });
}

// Single pages, one a row, from their events; what was left out of a history stays transparent.
function paintPages(chunkOf, first, rows, from, span, columns, layer) {
  const colour = palette(layer);
  const { activity } = LAYERS[layer];
  return picture(columns, rows, (pixels) => {
    for (let row = 0; row < rows; row += 1) {
      const chunk = chunkOf(first + row);
      if (!chunk) continue;
      const line = pixels.subarray(row * columns, (row + 1) * columns);
      if (activity) paintActivity(line, chunk, first + row, from, span, colour, activity);
      else paintStates(line, chunk, first + row, from, span, colour, chunk[layer]);
    }
  });
}

function paintStates(line, chunk, page, from, span, colour, states) {
  const end = chunk.starts[page - chunk.first + 1];
  const gap = chunk.gap(page);
  const column = (time) => clamp(Math.floor(((time - from) / span) * line.length), 0, line.length);
  let event = chunk.last(page, from);
  let at = 0;
  while (at < line.length) {
    const until = event + 1 < end ? column(chunk.time[event + 1]) : line.length;
    const before = event < chunk.starts[page - chunk.first];
    if (event + 1 !== gap) line.fill(colour[before ? 0 : states[event]], at, until);
    at = until;
    event += 1;
    if (event >= end) break;
  }
}

function paintActivity(line, chunk, page, from, span, colour, kinds) {
  const counts = new Uint16Array(line.length);
  const end = chunk.starts[page - chunk.first + 1];
  const gap = chunk.gap(page);
  for (let event = chunk.last(page, from - 1) + 1; event < end && chunk.time[event] <= from + span; event += 1) {
    if (kinds.has(chunk.kind[event])) counts[clamp(Math.floor(((chunk.time[event] - from) / span) * line.length), 0, line.length - 1)] += 1;
  }
  for (let column = 0; column < line.length; column += 1) {
    if (gap < 0 || counts[column]) line[column] = colour[activityCode(counts[column])];
  }
}

function picture(width, height, fill) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  fill(new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
  return canvas;
}
