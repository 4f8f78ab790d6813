// A plan as SVG: one picture an arena, steps across, bytes up.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const HEIGHT = 320;

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Bytes as people read them, 2^20 being a MiB. */
export function mib(bytes) {
  return `${(bytes / 2 ** 20).toFixed(3)} MiB`;
}

/** Neighbours in the list get hues far apart (multiples of the golden angle). */
function colour(index) {
  return `hsl(${(index * 137.508) % 360} 55% 60%)`;
}

function box(tensor, index, map) {
  const arena = map.arenas[tensor.arena];
  const x = (tensor.first / map.steps) * WIDTH;
  const width = ((tensor.last + 1 - tensor.first) / map.steps) * WIDTH;
  const height = (tensor.size_bytes / arena) * HEIGHT;
  const y = HEIGHT - (tensor.offset_bytes / arena) * HEIGHT - height;
  const fill = colour(index);
  const made = element("rect", { x, y, width, height, fill, stroke: "#0004", "stroke-width": 0.5 });
  const title = element("title", {});
  title.textContent = `${tensor.name}: ${mib(tensor.size_bytes)} at byte ${tensor.offset_bytes}, ` +
    `steps ${tensor.first} to ${tensor.last}`;
  made.append(title);
  return made;
}

/** Fills `target` with the pictures and returns the number of boxes. */
export function draw(map, target) {
  target.replaceChildren();
  let boxes = 0;
  map.arenas.forEach((bytes, arena) => {
    const picture = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    picture.setAttribute("aria-label", `arena ${arena}, ${mib(bytes)}`);
    map.tensors.forEach((tensor, index) => {
      if (tensor.arena !== arena || tensor.size_bytes === 0) return;
      picture.append(box(tensor, index, map));
      boxes += 1;
    });
    target.append(picture);
  });
  return boxes;
}
