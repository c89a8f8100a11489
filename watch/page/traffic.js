// SPDX-License-Identifier: LGPL-2.1-or-later
// What passed the regions and lines of a camera over time: a row with bars for each of them, in its card.
"use strict";

const TRAFFIC_MS = 10000;
const TRAFFIC_STEPS = { 600: 60, 3600: 60, 86400: 1800 };  // seconds of a bar, by those of the window

// The rows of a CSV file as objects, by the names of its first row.
function parseCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",")
      rows.push([]);
  }
  const names = rows.shift();
  return rows.filter((row) => row.length === names.length).map((row) =>
    Object.fromEntries(names.map((name, i) => [name, row[i]])));
}

// How many tracks crossed the line or entered the region.
const passed = (row) => Number(row.forward) + Number(row.backward) + Number(row.entered);

// The mean of a column over rows of unequal numbers of tracks; null where no row has it.
function meanOf(rows, column, weight) {
  const known = rows.filter((row) => row[column] && weight(row) > 0);
  const sum = known.reduce((total, row) => total + weight(row) * row[column], 0);
  return known.length ? sum / known.reduce((total, row) => total + weight(row), 0) : null;
}

function drawBars(svg, rows, span, step) {
  const n = span / step, last = Math.floor(Date.now() / 1000 / step);
  const bars = new Array(n).fill(0);
  for (const row of rows)
    bars[n - 1 - (last - Math.floor(Date.parse(row.begin) / 1000 / step))] += passed(row);
  const most = Math.max(1, ...bars.slice(0, n));
  svg.setAttribute("viewBox", `0 0 ${n} 20`);
  find("path", svg).setAttribute("d", bars.slice(0, n).map((count, i) =>
    count > 0 ? `M${i} 20V${20 - 20 * count / most}H${i + 0.9}V20Z` : "").join(""));
}

function makeTrafficRow(rows, span, step) {
  const item = find("#traffic-template").content.firstElementChild.cloneNode(true);
  const weight = (row) => row.kind === "line" ? passed(row) : Number(row.left);
  const speed = meanOf(rows, "mean_speed", weight), dwell = meanOf(rows, "mean_dwell", weight);
  find(".name", item).textContent = rows[0].name;
  find(".passed", item).textContent = rows.reduce((total, row) => total + passed(row), 0);
  find(".passed", item).title = rows[0].kind === "line" ? "Tracks that crossed the line" : "Tracks that entered the region";
  find(".speed", item).textContent = speed === null ? "" : `${speed.toFixed(1)} km/h`;
  find(".dwell", item).textContent = dwell === null ? "" : seconds(dwell);
  drawBars(find("svg", item), rows, span, step);
  return item;
}

async function updateTraffic() {
  const span = Number(find("#window").value), step = TRAFFIC_STEPS[span];
  for (const [name, card] of [...cards]) {
    if (isSmall(card.element) || !isInView(card))
      continue;
    const path = `${cameraPath(name)}/traffic.csv?seconds=${span}&step=${step}`;
    const rows = parseCsv(await request("GET", path));
    const names = new Map();
    for (const row of rows)
      names.set(row.kind + row.name, [...names.get(row.kind + row.name) || [], row]);
    const part = find(".traffic", card.element);
    part.hidden = names.size === 0;
    find("tbody", part).replaceChildren(...[...names.values()].map((group) => makeTrafficRow(group, span, step)));
    find("a", part).href = path;
  }
}

find("#window").addEventListener("change", () => updateTraffic().catch(showProblem));
repeat(updateTraffic, TRAFFIC_MS);
