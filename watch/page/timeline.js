// SPDX-License-Identifier: LGPL-2.1-or-later
// A day of a camera: what it saw, as marks over the hours and as a list, and gaps without frames. Recordings are played
// from there.
"use strict";

const DAY_MS = 86400000;
const GAP_POINTS = 288;    // intervals of the last 24 hours that may be gaps
const MAX_OBJECTS = 500;
const MAX_LISTED = 100;
const HOUR_MARKS = 5;

const timelineDialog = find("#timeline-dialog");
const timelineFields = find("form", timelineDialog).elements;

// The day of the date field, by the clocks of this browser: it may have 23 or 25 hours. Or the part of it between two times.
function chosenTime() {
  const [year, month, date] = timelineFields.day.value.split("-").map(Number);
  const at = (text) => new Date(year, month - 1, date, ...text.split(":").map(Number));
  const end = new Date(year, month - 1, date + 1);
  const from = at(timelineFields.from.value || "0:0");
  const to = timelineFields.to.value ? at(timelineFields.to.value) : end;
  return [from, to > from ? to : end];
}

const dateText = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;

function makeMark(begin, end, [from, to], least) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const scale = 1440 / (to - from);
  const x = Math.max(0, (begin - from) * scale);
  mark.setAttribute("x", x);
  mark.setAttribute("width", Math.max(least, Math.min(1440, (end - from) * scale) - x));
  return mark;
}

function labelHours([from, to]) {
  find(".hours", timelineDialog).replaceChildren(...Array.from({ length: HOUR_MARKS }, (_, i) => {
    const mark = document.createElement("span");
    const time = new Date(Number(from) + i * (to - from) / (HOUR_MARKS - 1));
    mark.textContent = time.toLocaleTimeString([], { timeStyle: "short" });
    return mark;
  }));
}

// Intervals without a frame, which are known of the last 24 hours while the program runs, and counts over the others.
function drawDay({ counts, end, since, step }, day) {
  const times = counts.map((_, i) => Date.parse(end) - (counts.length - i) * step * 1000);
  const within = times.map((time, i) => ({ time, count: counts[i] })).filter(({ time }) => time >= day[0] && time < Math.min(day[1], Date.now()));
  find(".gaps", timelineDialog).replaceChildren(...within.filter(({ time, count }) => count === null && time >= Date.parse(since)).map(({ time }) => {
    const mark = makeMark(time, time + step * 1000, day, 0);
    mark.setAttribute("height", 100);
    return mark;
  }));
  const most = Math.max(1, ...within.map(({ count }) => count ?? 0));
  const x = (time) => (time - day[0]) * 1440 / (day[1] - day[0]);
  find(".area", timelineDialog).setAttribute("d", within.filter(({ count }) => count).map(({ time, count }) =>
    `M${x(time)} 100V${100 - 60 * count / most}H${x(time + step * 1000)}V100Z`).join(""));
}

const clock = (utc) => new Date(utc).toLocaleTimeString();

function describeObject(object) {
  const parts = [`#${object.id}`, object.regions.join(", "), object.speed === undefined ? "" : `${Math.round(object.speed)} km/h`];
  return parts.filter(Boolean).join(" · ");
}

function showObject(object) {
  const caption = `${object.source}, ${new Date(object.begin).toLocaleString()}: ${describeObject(object)}`;
  if (object.clip)
    view(object.clip, caption, object.kept, object.object_clip);
  else if (object.picture)
    view(object.picture, caption);
}

function makeObject(object) {
  const item = find("#object-template").content.firstElementChild.cloneNode(true);
  find(".what", item).textContent = describeObject(object);
  find(".when", item).textContent = `${clock(object.begin)} to ${clock(object.end)}`;
  if (object.picture) {
    const thumbnail = showButton(item, ".thumbnail", () => view(object.picture, describeObject(object)), object.picture);
    find("polyline", thumbnail).setAttribute("points", object.path.map((place) => place.join(",")).join(" "));
  }
  if (object.best_picture)
    showButton(item, ".best", () => view(object.best_picture, describeObject(object)), object.best_picture);
  if (object.clip)
    showButton(item, ".clip", () => showObject(object));
  return item;
}

async function showDay() {
  const { name } = timelineDialog.dataset;
  const day = chosenTime();
  const region = timelineFields.region.value;
  const query = new URLSearchParams({ camera: name, from: day[0].toISOString(), to: day[1].toISOString(), limit: MAX_OBJECTS });
  if (region)
    query.set("region", region);
  const [{ objects }, counts] = await Promise.all([request("GET", `api/objects?${query}`),
    request("GET", `${cameraPath(name)}/counts?seconds=${DAY_MS / 1000}&points=${GAP_POINTS}`)]);
  labelHours(day);
  drawDay(counts, day);
  find(".objects", timelineDialog).replaceChildren(...objects.map((object) => {
    const mark = makeMark(Date.parse(object.begin), Date.parse(object.end), day, 3);
    mark.setAttribute("height", 35);
    mark.classList.toggle("playable", Boolean(object.clip || object.picture));
    mark.addEventListener("click", () => showObject(object));
    return mark;
  }));
  find(".found", timelineDialog).textContent = objects.length === 0 ? "Nothing was seen." :
    `${objects.length === MAX_OBJECTS ? "The latest " : ""}${objects.length} object${objects.length === 1 ? "" : "s"}` +
    (objects.length > MAX_LISTED ? `, of which ${MAX_LISTED} are listed` : "") +
    (objects.length === MAX_OBJECTS ? "; choose times to see others" : "");
  find("ol", timelineDialog).replaceChildren(...objects.slice(0, MAX_LISTED).map(makeObject));
}

function updateDay() {
  find(".error", timelineDialog).textContent = "";
  return showDay().catch((error) => { find(".error", timelineDialog).textContent = error.message; });
}

function openTimeline(name) {
  const camera = cards.get(name).camera;
  timelineDialog.dataset.name = name;
  find("h2", timelineDialog).textContent = `What ${name} saw`;
  timelineFields.day.value = dateText(new Date());
  timelineFields.from.value = timelineFields.to.value = "";
  timelineFields.region.replaceChildren(new Option("all", ""), ...camera.regions.map((region) => new Option(region.name)));
  timelineDialog.showModal();
  updateDay();
}

for (const field of [timelineFields.day, timelineFields.from, timelineFields.to, timelineFields.region])
  field.addEventListener("change", updateDay);
