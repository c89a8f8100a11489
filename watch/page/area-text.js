// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions, lines and masks as text: the settings ccltrack.regions and ccl.masks. A shape is { kind, name, limits, points },
// where points are [[x, y], …] in percent of the picture.
"use strict";

const REGIONS_KEY = "ccltrack.regions";
const MASKS_KEY = "ccl.masks";

// The points of words such as 10%,20%, or 64,96 in pixels of the camera's frames.
function parsePlace(word, camera) {
  const [, x, xPercent, y, yPercent] = word.match(/^(-?[0-9.]+)(%?),(-?[0-9.]+)(%?)$/) || [];
  if (x === undefined || xPercent !== yPercent || (!xPercent && !camera?.width))
    throw new Error(`"${word}" cannot be drawn`);
  return xPercent ? [Number(x), Number(y)] : [100 * x / camera.width, 100 * y / camera.height];
}

function parseShape(item, camera) {
  const [, kind, name, rest] = item.match(/^(region|line|mask)\s+("[^"]*"|'[^']*'|[^"'\s]\S*)\s+(.*)$/) || [];
  if (!kind)
    throw new Error(`"${item}" is no region, line or mask`);
  const words = rest.split(/\s+/).filter(Boolean);
  return {
    kind,
    name: name.replace(/^(["'])(.*)\1$/, "$2"),
    limits: words.filter((word) => word.includes("=")).join(" "),
    points: words.filter((word) => !word.includes("=")).map((word) => parsePlace(word, camera)),
  };
}

// Semicolons inside quoted names separate nothing.
function parseShapes(text, camera) {
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
