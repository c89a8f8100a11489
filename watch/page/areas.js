// SPDX-License-Identifier: LGPL-2.1-or-later
// The editor of a camera's areas: regions, lines and masks, drawn on its live picture, and how faint an object may be, with
// a view of what the model sees.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const SENSITIVITY_KEY = "ccl.sensitivity";
const USUAL_SENSITIVITY = "100";
const NEAR_EDGE = 3;  // percent of the picture: a click so near an edge puts a point into it

const areasDialog = find("#areas-dialog");
const areasScene = find(".scene", areasDialog);
const areaList = find(".shapes", areasDialog);
let shapes = [];
let chosen = -1;      // number of the shape that has handles
let chosenPoint = -1; // number of its point that "Delete point" removes
let past = [];        // states for "Undo", the latest last
let edited = null;    // the camera: { name, version, sensitivity, isSaved }

// Undo

const copyState = () => structuredClone({ shapes, chosen, chosenPoint });

function remember() {
  past.push(copyState());
  find(".undo", areasDialog).disabled = false;
}

function undo() {
  if (past.length === 0)
    return;
  ({ shapes, chosen, chosenPoint } = past.pop());
  showAreas();
}

// Changes the shapes in a way that can be undone.
function edit(change) {
  remember();
  change(shapes[chosen]);
  showAreas();
}

// Drawing

function drawShapes() {
  find(".drawn", areasDialog).replaceChildren(...shapes.map((shape, i) => {
    const element = document.createElementNS(SVG, shape.kind === "line" ? "polyline" : "polygon");
    element.setAttribute("points", shape.points.map(([x, y]) => `${x},${y}`).join(" "));
    element.setAttribute("class", `${shape.kind}${i === chosen ? " chosen" : ""}`);
    return element;
  }));
}

function choosePoint(i) {
  chosenPoint = i;
  areasScene.querySelectorAll(".handle").forEach((handle, n) => handle.classList.toggle("chosen", n === i));
  find(".delete-point", areasDialog).disabled = i < 0;
}

function makePoint(shape, i) {
  const handle = document.createElement("button");
  handle.type = "button";
  handle.className = "handle";
  handle.textContent = i + 1;
  handle.setAttribute("aria-label", `Point ${i + 1}`);
  moveHandle(handle, shape.points[i]);
  makeDraggable(areasScene, handle, () => shape.points[i], (place) => {
    shape.points[i] = place;
    drawShapes();
  }, remember);
  handle.addEventListener("pointerdown", () => choosePoint(i));
  handle.addEventListener("focus", () => choosePoint(i));
  handle.addEventListener("keydown", (event) => {
    if (event.key === "Delete")
      deletePoint(i);
  });
  return handle;
}

function deletePoint(i) {
  edit((shape) => {
    shape.points.splice(i, 1);
    chosenPoint = Math.min(i, shape.points.length - 1);
  });
}

// Draws the shapes, and the handles of the chosen one.
function drawAreas() {
  const shape = shapes[chosen];
  const points = shape ? shape.points : [];
  for (const handle of areasScene.querySelectorAll(".handle"))
    handle.remove();
  areasScene.append(...points.map((_, i) => makePoint(shape, i)));
  choosePoint(chosenPoint < points.length ? chosenPoint : -1);
  drawShapes();
}

// Shows the state.
function showAreas() {
  find(".error", areasDialog).textContent = "";
  find(".undo", areasDialog).disabled = past.length === 0;
  areaList.replaceChildren(...shapes.map(makeRow));
  drawAreas();
}

// The list

function choose(i) {
  chosen = i;
  chosenPoint = -1;
  [...areaList.children].forEach((row, n) => row.classList.toggle("chosen", n === i));
  drawAreas();
}

function makeRow(shape, i) {
  const row = find("#shape-template").content.firstElementChild.cloneNode(true);
  find(".kind", row).textContent = shape.kind;
  find(".limits", row).hidden = shape.kind === "mask";
  row.classList.toggle("chosen", i === chosen);
  for (const key of ["name", "limits"]) {
    const field = find(`.${key}`, row);
    field.value = shape[key];
    field.addEventListener("change", () => {
      remember();
      shape[key] = field.value;
    });
  }
  row.addEventListener("pointerdown", () => i !== chosen && choose(i));
  row.addEventListener("focusin", () => i !== chosen && i < shapes.length && choose(i));
  find(".delete", row).addEventListener("click", () => edit(() => {
    shapes.splice(i, 1);
    chosen = shapes.length - 1;
    chosenPoint = -1;
  }));
  return row;
}

function addShape(kind) {
  const names = new Set(shapes.map(({ name }) => name));
  let n = 1;
  while (names.has(`${kind}${n}`))
    n++;
  edit(() => {
    chosen = shapes.push({ kind, name: `${kind}${n}`, limits: "", points: [] }) - 1;
    chosenPoint = -1;
  });
  areaList.lastElementChild.scrollIntoView({ block: "nearest" });
}

// Points

// The distance of a place from the edge between two points.
function distanceToEdge([x, y], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const share = length ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length)) : 0;
  return Math.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay));
}

// Where among the points of a shape a new one goes: into an edge that is near, else behind the last one.
function indexOfNewPoint({ kind, points }, place) {
  if (kind === "line" || points.length < 3)
    return points.length;
  const distances = points.map((point, i) => distanceToEdge(place, point, points[(i + 1) % points.length]));
  const nearest = distances.indexOf(Math.min(...distances));
  return distances[nearest] < NEAR_EDGE ? nearest + 1 : points.length;
}

areasScene.addEventListener("click", (event) => {
  const shape = shapes[chosen];
  if (!shape || event.target.closest(".handle") || (shape.kind === "line" && shape.points.length === 2))
    return;
  const place = placeOf(areasScene, event);
  edit(() => {
    chosenPoint = indexOfNewPoint(shape, place);
    shape.points.splice(chosenPoint, 0, place);
  });
});

// The camera

async function changeCamera(settings) {
  const camera = await request("PATCH", cameraPath(edited.name), JSON.stringify(settings), edited.version);
  edited.version = camera.version;
}

// Holds at once, so that its effect can be seen.
async function setSensitivity(value) {
  find(".sensitivity", areasDialog).value = value;
  find("output", areasDialog).textContent = `${value} %`;
  if (value !== edited.sensitivity)
    await changeCamera({ [SENSITIVITY_KEY]: value });
  edited.sensitivity = value;
}

function showAreasError(error) {
  find(".error", areasDialog).textContent = error.message;
}

async function saveAreas() {
  const text = (kinds) => shapes.filter(({ kind }) => kinds.includes(kind)).map(formatShape).join("; ") || null;
  await changeCamera({ [REGIONS_KEY]: text(["region", "line"]), [MASKS_KEY]: text(["mask"]) });
  edited.isSaved = true;
}

async function openAreas(name) {
  const { settings, version } = await request("GET", cameraPath(name));
  const { camera } = cards.get(name);
  const sensitivity = settings[SENSITIVITY_KEY] || USUAL_SENSITIVITY;
  const hasTracks = settings.results !== "components";
  edited = { name, version, sensitivity };
  past = [];
  shapes = [...parseShapes(settings[REGIONS_KEY] || "", camera), ...parseShapes(settings[MASKS_KEY] || "", camera)];
  chosen = shapes.length ? 0 : -1;
  chosenPoint = -1;
  find("h2", areasDialog).textContent = `Areas of ${name}`;
  find(".add-region", areasDialog).hidden = find(".add-line", areasDialog).hidden = !hasTracks;
  find(".sensing", areasDialog).hidden = (settings["ccl.foreground"] || "codebook") !== "codebook";
  find(".foreground", areasDialog).checked = false;
  find(".sensitivity", areasDialog).value = sensitivity;
  find("output", areasDialog).textContent = `${sensitivity} %`;
  showAreas();
  openScene(areasDialog, name, () => (find(".foreground", areasDialog).checked ? "foreground=1" : "boxes=0"));
  onSubmit(areasDialog, saveAreas);
  areasDialog.onclose = () => !edited.isSaved && setSensitivity(sensitivity).catch(showProblem);
}

find(".undo", areasDialog).addEventListener("click", undo);
find(".delete-point", areasDialog).addEventListener("click", () => deletePoint(chosenPoint));
areasDialog.addEventListener("keydown", (event) => {
  if (event.key === "z" && (event.ctrlKey || event.metaKey) && !event.target.closest("input")) {
    event.preventDefault();
    undo();
  }
});
for (const kind of ["region", "line", "mask"])
  find(`.add-${kind}`, areasDialog).addEventListener("click", () => addShape(kind));
find(".sensitivity", areasDialog).addEventListener("input", ({ target }) => {
  find("output", areasDialog).textContent = `${target.value} %`;
});
find(".sensitivity", areasDialog).addEventListener("change", ({ target }) => {
  find(".foreground", areasDialog).checked = true;
  setSensitivity(target.value).catch(showAreasError);
});
