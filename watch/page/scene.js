// SPDX-License-Identifier: LGPL-2.1-or-later
// The live picture in a dialog, with points that are dragged on it. Places are percent of the picture.
"use strict";

const SCENE_PICTURE_MS = 500;
const SCENE_STEP = 0.25;  // percent, of an arrow key

const within = (value) => Math.min(Math.max(value, 0), 100);

// Where in the scene a pointer is.
function placeOf(scene, event) {
  const { left, top, width, height } = scene.getBoundingClientRect();
  return [within(100 * (event.clientX - left) / width), within(100 * (event.clientY - top) / height)];
}

function moveHandle(handle, [x, y]) {
  handle.style.left = `${x}%`;
  handle.style.top = `${y}%`;
}

// Lets a handle be dragged, and moved by the arrow keys. moved(place) is called with each new place, and begins() before
// the first one of a drag; place() tells the present one.
function makeDraggable(scene, handle, place, moved, begins = () => {}) {
  let hasMoved = false;
  const move = (to) => {
    moveHandle(handle, to);
    moved(to);
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    hasMoved = false;
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId))
      return;
    if (!hasMoved)
      begins();
    hasMoved = true;
    move(placeOf(scene, event));
  });
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step)
      return;
    event.preventDefault();
    if (!event.repeat)
      begins();
    move(place().map((value, i) => within(value + step[i] * SCENE_STEP)));
  });
}

// Opens a dialog that shows a camera's picture, as it is now, until it closes; query() says which one.
function openScene(dialog, name, query = () => "boxes=0") {
  const next = new Image();
  const show = () => { next.src = `${cameraPath(name)}/picture?${query()}&t=${Date.now()}`; };
  next.onload = () => { find("img", dialog).src = next.src; };
  dialog.showModal();
  show();
  const timer = setInterval(show, SCENE_PICTURE_MS);
  dialog.addEventListener("close", () => clearInterval(timer), { once: true });
}

// Replaces a setting in the text of all settings; an empty value removes it.
function replaceSetting(text, key, value) {
  const lines = text.split("\n").filter((line) => line.trim() && line.split("=")[0].trim() !== key);
  return [...lines, ...(value ? [`${key}=${value}`] : [])].join("\n");
}

// Lets a button of the camera's dialog open another dialog: open(name, settings) with the text field of the settings.
function openFromCamera(button, open) {
  find(button).addEventListener("click", () => {
    const fields = find("#camera-dialog form").elements;
    const show = () => fields.settings.dispatchEvent(new Event("input", { bubbles: true }));
    for (const dialog of document.querySelectorAll("#ground-dialog"))
      dialog.addEventListener("close", show, { once: true });
    try {
      open(fields.name.value, fields.settings);
    } catch (error) { // the text of the settings
      find("#camera-dialog .error").textContent = error.message;
    }
  });
}
