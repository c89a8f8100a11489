// SPDX-License-Identifier: LGPL-2.1-or-later
// The regions and lines of a camera, drawn on its live picture. They are the setting ccltrack.regions, a line of the
// text field in the camera's dialog.
"use strict";

const REGIONS_KEY = "ccltrack.regions";
const SVG = "http://www.w3.org/2000/svg";

const regionsDialog = find("#regions-dialog");
const regionsScene = find(".scene", regionsDialog);
let shapes = []; // { kind, name, limits, points: [[x, y], …] in percent }
let chosen = null; // the shape that has handles

// Text

// The points of words such as 10%,20%, or 64,96 in pixels of the camera's frames.
function parsePlace(word, camera) {
  const [, x, xPercent, y, yPercent] = word.match(/^(-?[0-9.]+)(%?),(-?[0-9.]+)(%?)$/) || [];
  if (x === undefined || xPercent !== yPercent || (!xPercent && !camera?.width))
    throw new Error(`${REGIONS_KEY}: "${word}" cannot be drawn`);
  return xPercent ? [Number(x), Number(y)] : [100 * x / camera.width, 100 * y / camera.height];
}

function parseShape(item, camera) {
  const [, kind, name, rest] = item.match(/^(region|line)\s+("[^"]*"|'[^']*'|[^"'\s]\S*)\s+(.*)$/) || [];
  if (!kind)
    throw new Error(`${REGIONS_KEY}: "${item}" is no region or line`);
  const words = rest.split(/\s+/).filter(Boolean);
  return {
    kind,
    name: name.replace(/^(["'])(.*)\1$/, "$2"),
    limits: words.filter((word) => word.includes("=")).join(" "),
    points: words.filter((word) => !word.includes("=")).map((word) => parsePlace(word, camera)),
  };
}

// Semicolons inside quoted names separate nothing.
function parseRegions(text, camera) {
  const items = text.match(/(?:"[^"]*"|'[^']*'|[^;"'])+/g) || [];
  return items.map((item) => item.trim()).filter(Boolean).map((item) => parseShape(item, camera));
}

function quote(name) {
  if (!/[\s;"']/.test(name))
    return name;
  if (name.includes('"') && name.includes("'"))
    throw new Error(`a name can have one kind of quotes: ${name}`);
  return name.includes('"') ? `'${name}'` : `"${name}"`;
}

function formatShape({ kind, name, limits, points }) {
  if (!name.trim())
    throw new Error(`a ${kind} has no name`);
  if (kind === "line" ? points.length !== 2 : points.length < 3)
    throw new Error(`${kind} "${name}" has ${points.length} points; ${kind === "line" ? "two" : "three or more"} are needed`);
  const places = points.map(([x, y]) => `${x.toFixed(2)}%,${y.toFixed(2)}%`);
  return [kind, quote(name.trim()), ...places, ...limits.split(/\s+/).filter(Boolean)].join(" ");
}

// Drawing

function drawShapes() {
  find("svg", regionsDialog).replaceChildren(...shapes.map((shape) => {
    const element = document.createElementNS(SVG, shape.kind === "line" ? "polyline" : "polygon");
    element.setAttribute("points", shape.points.map(([x, y]) => `${x},${y}`).join(" "));
    element.classList.toggle("chosen", shape === chosen);
    return element;
  }));
}

function makePoint(shape, i) {
  const handle = document.createElement("button");
  handle.type = "button";
  handle.className = "handle";
  handle.textContent = i + 1;
  handle.setAttribute("aria-label", `Point ${i + 1}`);
  moveHandle(handle, shape.points[i]);
  makeDraggable(regionsScene, handle, () => shape.points[i], (place) => {
    shape.points[i] = place;
    drawShapes();
  });
  handle.addEventListener("keydown", (event) => {
    if (event.key !== "Delete")
      return;
    shape.points.splice(i, 1);
    choose(shape);
  });
  return handle;
}

// Shows the handles of a shape; null for none.
function choose(shape) {
  chosen = shape;
  find(".error", regionsDialog).textContent = "";
  for (const handle of regionsScene.querySelectorAll(".handle"))
    handle.remove();
  regionsScene.append(...(shape ? shape.points.map((_, i) => makePoint(shape, i)) : []));
  shapes.forEach((other, i) => find(".shapes", regionsDialog).children[i].classList.toggle("chosen", other === shape));
  drawShapes();
}

// List

function makeRow(shape) {
  const row = find("#shape-template").content.firstElementChild.cloneNode(true);
  find(".kind", row).textContent = shape.kind;
  for (const key of ["name", "limits"]) {
    find(`.${key}`, row).value = shape[key];
    find(`.${key}`, row).addEventListener("input", (event) => { shape[key] = event.target.value; });
  }
  row.addEventListener("focusin", () => {
    if (chosen !== shape)
      choose(shape);
  });
  find(".delete", row).addEventListener("click", () => {
    shapes.splice(shapes.indexOf(shape), 1);
    row.remove();
    choose(shapes.at(-1) || null);
  });
  return row;
}

function addShape(kind) {
  const named = shapes.filter((shape) => shape.kind === kind).length;
  const shape = { kind, name: `${kind}${named + 1}`, limits: "", points: [] };
  shapes.push(shape);
  find(".shapes", regionsDialog).append(makeRow(shape));
  choose(shape);
}

function openRegionsDialog(name, settings) {
  shapes = parseRegions(parseSettings(settings.value)[REGIONS_KEY] || "", cards.get(name)?.camera);
  find(".shapes", regionsDialog).replaceChildren(...shapes.map(makeRow));
  choose(shapes[0] || null);
  find("form", regionsDialog).onsubmit = (event) => {
    try {
      settings.value = replaceSetting(settings.value, REGIONS_KEY, shapes.map(formatShape).join("; "));
    } catch (error) {
      event.preventDefault();
      find(".error", regionsDialog).textContent = error.message;
    }
  };
  openScene(regionsDialog, name);
}

// A click beside the handles adds a point to the chosen shape.
regionsScene.addEventListener("click", (event) => {
  if (!chosen || event.target.closest(".handle") || (chosen.kind === "line" && chosen.points.length === 2))
    return;
  chosen.points.push(placeOf(regionsScene, event));
  choose(chosen);
});
for (const kind of ["region", "line"])
  find(`.add-${kind}`, regionsDialog).addEventListener("click", () => addShape(kind));
openFromCamera("#camera-dialog .regions", openRegionsDialog);
