// Numbers and names as people read them.

const UNITS = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["bytes", 1]];

/** The unit for numbers up to `most`. */
function unitOf(most) {
  return UNITS.find(([, size]) => most >= size) ?? UNITS[UNITS.length - 1];
}

/** Three digits behind the point; a tie goes to the even digit, as everywhere else in sublet. */
function rounded(number) {
  const scaled = number * 1000;
  const below = Math.floor(scaled);
  const even = below % 2 === 0 ? below : below + 1;
  return ((scaled - below === 0.5 ? even : Math.round(scaled)) / 1000).toFixed(3);
}

function short(number) {
  const text = Math.abs(number) >= 1000 ? number.toFixed(0) : rounded(number);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** `5.742 MiB`, `124 bytes`. */
function bytes(count) {
  const [name, size] = unitOf(Math.abs(count));
  return `${short(count / size)} ${name}`;
}

/** `6,021,120` */
function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Rounded steps of 1, 2 or 5 times a power of ten. */
function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough) ?? rough;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function darker(hex) {
  const part = (at) => Math.floor(parseInt(hex.slice(at, at + 2), 16) * 0.9).toString(16).padStart(2, "0");
  return `#${part(1)}${part(3)}${part(5)}`;
}

const DARKER = DATA.fills.map(darker);

/** Neighbours of one class differ a little. */
function fillOf(table, i) {
  const fills = table.legend.length && i % 2 ? DARKER : DATA.fills;
  return fills[table.classes[i] % fills.length];
}

/** An element with text or children. */
function make(tag, content = [], attributes = {}) {
  const element = document.createElement(tag);
  element.append(...(Array.isArray(content) ? content : [content]));
  Object.assign(element, attributes);
  return element;
}
