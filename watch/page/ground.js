// SPDX-License-Identifier: LGPL-2.1-or-later
// The ground of a camera: four points that are dragged on its live picture, and their positions in metres. They are
// the setting ccltrack.ground, a line of the text field in the camera's dialog.
"use strict";

const GROUND_KEY = "ccltrack.ground";
const GROUND_START = [[30, 60], [70, 60], [85, 90], [15, 90]];

const groundDialog = find("#ground-dialog");
const groundHandles = GROUND_START.map((_, i) => find(`[data-point="${i}"]`, groundDialog));
let groundPlaces = [];

// The four points of a setting in percent as [x, y, metres, metres]; null if it has another form.
function parseGround(text) {
  const number = "(-?[0-9.]+(?:e-?[0-9]+)?)";
  const points = text.split(";").map((item) => item.trim()).filter(Boolean).map((item) =>
    item.match(`^${number}%,${number}%\\s+${number},${number}$`)?.slice(1).map(Number));
  return points.length === GROUND_START.length && points.every(Boolean) ? points : null;
}

function formatGround() {
  const fields = find("form", groundDialog).elements;
  return groundPlaces.map(([x, y], i) =>
    `${x.toFixed(2)}%,${y.toFixed(2)}% ${fields[`x${i}`].valueAsNumber},${fields[`y${i}`].valueAsNumber}`).join("; ");
}

function setGroundPlace(i, place) {
  groundPlaces[i] = place;
  find("polygon", groundDialog).setAttribute("points", groundPlaces.map(([x, y]) => `${x},${y}`).join(" "));
}

function openGroundDialog(name, settings) {
  const fields = find("form", groundDialog).elements;
  const points = parseGround(parseSettings(settings.value)[GROUND_KEY] || "");
  groundPlaces = GROUND_START.map((start, i) => (points ? points[i].slice(0, 2) : start));
  groundPlaces.forEach((place, i) => {
    moveHandle(groundHandles[i], place);
    setGroundPlace(i, place);
    fields[`x${i}`].value = points ? points[i][2] : "";
    fields[`y${i}`].value = points ? points[i][3] : "";
  });
  find("form", groundDialog).onsubmit = () => {
    settings.value = replaceSetting(settings.value, GROUND_KEY, formatGround());
  };
  find(".none", groundDialog).onclick = () => {
    settings.value = replaceSetting(settings.value, GROUND_KEY, "");
    groundDialog.close();
  };
  openScene(groundDialog, name);
}

groundHandles.forEach((handle, i) =>
  makeDraggable(find(".scene", groundDialog), handle, () => groundPlaces[i], (place) => setGroundPlace(i, place)));
openFromCamera("#camera-dialog .ground", openGroundDialog);
