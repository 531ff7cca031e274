// Numbers, times and addresses as people read them, and elements made in one call.

const data = JSON.parse(document.getElementById("data").textContent);

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; unit += 1) count /= 1024;
  return `${digits.format(count)} ${units[unit]}`;
}

function duration(picoseconds) {
  const units = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3]];
  const [unit, size] = units.find(([, least]) => picoseconds >= least) ?? ["ps", 1];
  return `${digits.format(picoseconds / size)} ${unit}`;
}

// A time of the page, which may be before 0.
function milliseconds(time) {
  return `${digits.format(time)} ms`;
}

// Enough digits to tell neighbouring events apart.
function exactTime(picoseconds) {
  return `${(picoseconds / 1e6).toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 })} µs`;
}

function address(value) {
  return `0x${value.toString(16)}`;
}

function processor(index) {
  return index === 0 ? "host" : `GPU ${index - 1}`;
}

function words(name) {
  return name.replaceAll("_", " ");
}

// An element with attributes, event listeners (functions) and children (elements and texts).
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function announce(text) {
  document.getElementById("live").textContent = text;
}
