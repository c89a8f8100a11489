// SPDX-License-Identifier: LGPL-2.1-or-later
// The ground of a camera: four points that are dragged on its live picture, and their positions in metres. They are
// the setting ccltrack.ground, a line of the text field in the camera's dialog.
"use strict";

const GROUND_KEY = "ccltrack.ground";
const GROUND_PICTURE_MS = 1000;
const GROUND_START = [[30, 60], [70, 60], [85, 90], [15, 90]];  // percent of the picture

const groundDialog = find("#ground-dialog");
const groundHandles = [];  // { handle, x, y }: percent of the picture

// The four points of a setting in percent as [x, y, metres, metres]; null if it has another form.
function parseGround(text) {
  const number = "(-?[0-9.]+(?:e-?[0-9]+)?)";
  const points = text.split(";").map((item) => item.trim()).filter(Boolean).map((item) =>
    item.match(`^${number}%,${number}%\\s+${number},${number}$`)?.slice(1).map(Number));
  return points.length === GROUND_START.length && points.every(Boolean) ? points : null;
}

function formatGround() {
  const fields = find("form", groundDialog).elements;
  return groundHandles.map(({ x, y }, i) =>
    `${x.toFixed(2)}%,${y.toFixed(2)}% ${fields[`x${i}`].valueAsNumber},${fields[`y${i}`].valueAsNumber}`).join("; ");
}

function moveHandle(point, x, y) {
  point.x = Math.min(Math.max(x, 0), 100);
  point.y = Math.min(Math.max(y, 0), 100);
  point.handle.style.left = `${point.x}%`;
  point.handle.style.top = `${point.y}%`;
  find("polygon", groundDialog).setAttribute("points", groundHandles.map((p) => `${p.x},${p.y}`).join(" "));
}

function dragHandle(point, event) {
  const scene = find(".scene", groundDialog).getBoundingClientRect();
  if (point.handle.hasPointerCapture(event.pointerId))
    moveHandle(point, 100 * (event.clientX - scene.left) / scene.width, 100 * (event.clientY - scene.top) / scene.height);
}

// Arrow keys move by a quarter of a percent.
function pushHandle(point, event) {
  const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
  if (x === 0 && y === 0)
    return;
  event.preventDefault();
  moveHandle(point, point.x + x / 4, point.y + y / 4);
}

function makeHandle(i) {
  const point = { handle: find(`[data-point="${i}"]`, groundDialog), x: 0, y: 0 };
  point.handle.addEventListener("pointerdown", (event) => point.handle.setPointerCapture(event.pointerId));
  point.handle.addEventListener("pointermove", (event) => dragHandle(point, event));
  point.handle.addEventListener("keydown", (event) => pushHandle(point, event));
  return point;
}

function showGroundPicture(name) {
  if (groundDialog.open)
    find("img", groundDialog).src = `${cameraPath(name)}/picture?boxes=0&t=${Date.now()}`;
}

// Replaces the line of the ground in the text of all settings.
function setGround(settings, ground) {
  const lines = settings.split("\n").filter((line) => line.trim() && line.split("=")[0].trim() !== GROUND_KEY);
  return [...lines, ...(ground ? [`${GROUND_KEY}=${ground}`] : [])].join("\n");
}

// settings: the text field that has the setting.
function openGroundDialog(name, settings) {
  const fields = find("form", groundDialog).elements;
  const points = parseGround(parseSettings(settings.value)[GROUND_KEY] || "");
  GROUND_START.forEach(([x, y], i) => {
    moveHandle(groundHandles[i], points ? points[i][0] : x, points ? points[i][1] : y);
    fields[`x${i}`].value = points ? points[i][2] : "";
    fields[`y${i}`].value = points ? points[i][3] : "";
  });
  find("form", groundDialog).onsubmit = () => { settings.value = setGround(settings.value, formatGround()); };
  find(".none", groundDialog).onclick = () => {
    settings.value = setGround(settings.value, "");
    groundDialog.close();
  };
  groundDialog.showModal();
  showGroundPicture(name);
  const timer = setInterval(showGroundPicture, GROUND_PICTURE_MS, name);
  groundDialog.addEventListener("close", () => clearInterval(timer), { once: true });
}

groundHandles.push(...GROUND_START.map((_, i) => makeHandle(i)));
find("#camera-dialog .ground").addEventListener("click", () => {
  const fields = find("#camera-dialog form").elements;
  try {
    openGroundDialog(fields.name.value, fields.settings);
  } catch (error) { // the text of the settings
    find("#camera-dialog .error").textContent = error.message;
  }
});
