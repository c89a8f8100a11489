// SPDX-License-Identifier: LGPL-2.1-or-later
"use strict";

const STATUS_MS = 1000;  // between two requests of the cameras' states
const PICTURE_MS = 400;  // between a live picture of a camera and the next one, at least
const PICTURES_PER_SECOND = 12;  // of all cameras together
const COUNTS_MS = 5000;
const EVENTS_MS = 2000;
const MAX_EVENTS = 40;
const MAX_LARGE = 8;     // more cameras are shown small
const MAX_FIRST = 8;     // cameras in trouble come first unless they are more
const MAX_NAMED = 3;     // cameras in the summary, for each state
const CALM = ["playing", "connecting", "resized", "ended"];  // all other states are trouble
const CHART = { width: 300, height: 64, points: 150 };

const find = (selector, parent = document) => parent.querySelector(selector);
const cards = new Map(); // name → { element, camera, loading, loadedAt, and what stream.js keeps }
const goneCards = [];    // of cameras that were removed, for stream.js

// Requests

class Refused extends Error {}
class NoAnswer extends Error {}

let answered = new Date();

// version: a change is refused if the camera has another one by now.
async function request(method, path, body, version) {
  const headers = { "X-CCL-Watch": "1", ...(version ? { "If-Match": `"${version}"` } : {}) };
  const response = await fetch(path, { method, body, headers })
    .catch(() => { throw new NoAnswer("no answer from ccl-watch"); });
  answered = new Date();
  document.body.classList.remove("offline");
  if (response.status === 401 && path !== "api/login") {
    showLogin();
    throw new Refused("a token is required");
  }
  if (!response.ok)
    throw new Error((await response.text()).trim() || response.statusText);
  if (response.status === 204)
    return null;
  return response.headers.get("Content-Type").startsWith("text/") ? response.text() : response.json();
}

const cameraPath = (name) => `api/cameras/${encodeURIComponent(name)}`;

// Calls a function now and again after it is done, but not while the page is hidden.
function repeat(task, interval) {
  const run = async () => {
    if (!document.hidden)
      await task().catch(showProblem);
    setTimeout(run, interval);
  };
  run();
}

function showProblem(error) {
  if (error instanceof Refused)
    return;
  document.body.classList.toggle("offline", error instanceof NoAnswer);
  showSummary(error instanceof NoAnswer ?
    `No answer from ccl-watch since ${answered.toLocaleTimeString()}` : error.message, true);
}

function showSummary(text, isProblem) {
  find("#summary").textContent = text;
  find("#summary").title = text;
  find("#summary").classList.toggle("problem", isProblem);
}

// Text

const seconds = (value) =>
  value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;

function ago(utc) {
  const passed = Math.max(0, (Date.now() - Date.parse(utc)) / 1000);
  if (passed < 60)
    return `${Math.floor(passed)} s ago`;
  if (passed < 3600)
    return `${Math.floor(passed / 60)} min ago`;
  return new Date(utc).toLocaleString();
}

// Cameras

function makeCard(name) {
  const element = find("#camera-template").content.firstElementChild.cloneNode(true);
  const card = { element, camera: null, loading: false, loadedAt: 0 };
  element.dataset.name = name;
  find("h3", element).textContent = name;
  find("svg", element).setAttribute("aria-label", `Number of components of ${name} over time`);
  find(".more", element).addEventListener("click", () => openCard(element, !element.classList.contains("open")));
  find(".day", element).addEventListener("click", () => openTimeline(name));
  find(".arm", element).addEventListener("click", () => openArmingDialog(name));
  find(".areas", element).addEventListener("click", () => openAreas(name).catch((error) => showSummary(`${name}: ${error.message}`, true)));
  find(".edit", element).addEventListener("click", () => openCameraDialog(name));
  find(".remove", element).addEventListener("click", () => openRemoveDialog(name));
  const image = find("img", element);
  image.alt = `Live picture of ${name}`;
  const picture = find(".picture", element);
  picture.setAttribute("aria-label", name);
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter")
      picture.click();
  });
  picture.addEventListener("click", () => {
    if (isSmall(element))
      openCard(element, true);
    else if (!image.hidden || isStreaming(card))
      view(`${cameraPath(name)}/picture?boxes=${boxes()}&t=${Date.now()}`, name);
  });
  cards.set(name, card);
  find("#cameras").append(element);
}

const isSmall = (element) => find("#cameras").classList.contains("small") && !element.classList.contains("open");

// A small card shows all that a large one does while it is open.
function openCard(element, open) {
  element.classList.toggle("open", open);
  find(".more", element).setAttribute("aria-expanded", open);
  find(".more", element).textContent = open ? "Less" : "Details";
  updateCounts().catch(showProblem);
}

const boxes = () => (find("#boxes").checked ? 1 : 0);

function updateCard(camera) {
  const { element } = cards.get(camera.name);
  const moving = hasMotion(camera);
  const shown = hasChange(camera) ? camera.scene : moving ? "motion" : camera.state;
  const state = find(".state", element);
  cards.get(camera.name).camera = camera;
  element.classList.toggle("trouble", isTrouble(camera));
  element.classList.toggle("absent", isTrouble(camera) || camera.state === "connecting");
  element.title = isTrouble(camera) && camera.detail ? `${camera.name}: ${camera.state}, ${camera.detail}` : camera.name;
  state.className = `state ${hasChange(camera) || moving ? "motion" : camera.state}`;
  state.textContent = shown;
  find(".count", element).textContent = camera.width ? camera.components : "";
  find(".arm", element).textContent = !camera.armed ? "Disarmed" : camera.regions.every(({ armed }) => armed) ? "Armed" : "Armed in part";
  element.classList.toggle("disarmed", !camera.armed);
  find(".uri", element).textContent = camera.uri;
  find(".uri", element).title = camera.uri;
  find(".detail", element).hidden = !camera.detail || camera.state === "playing";
  find(".detail", element).textContent = camera.detail || "";
  find(".components", element).textContent = camera.width ? camera.components : "–";
  find(".fps", element).textContent = camera.width ? camera.fps.toFixed(1) : "–";
  find(".latency", element).textContent = camera.width ? seconds(camera.latency) : "–";
  find(".reconnects", element).textContent = camera.reconnects;
}

const isTrouble = (camera) => !CALM.includes(camera.state);
const hasChange = (camera) => camera.scene !== "usual" && camera.state === "playing";
const hasMotion = (camera) => camera.motion && camera.state === "playing";

function matches(camera) {
  const text = find("#search").value.trim().toLowerCase();
  const filter = find("#filter").value;
  return (!text || camera.name.toLowerCase().includes(text) || camera.uri.toLowerCase().includes(text)) &&
    (filter === "all" || (filter === "trouble" ? isTrouble(camera) : hasMotion(camera)));
}

// A few cameras in trouble come first, and many last, so that they do not hide those that play; otherwise in the order
// of the configuration. Only those that are looked for.
function arrange(cameras) {
  const size = find("#size").value;
  const shown = cameras.filter(matches);
  const troubles = shown.filter(isTrouble), others = shown.filter((camera) => !isTrouble(camera));
  const order = troubles.length > MAX_FIRST ? [...others, ...troubles] : [...troubles, ...others];
  const list = find("#cameras");
  list.classList.toggle("small", size === "small" || (size === "auto" && cameras.length > MAX_LARGE));
  for (const { element, camera } of cards.values())
    element.hidden = !matches(camera);
  order.forEach(({ name }, i) => {
    const { element } = cards.get(name);
    if (list.children[i] !== element)
      list.insertBefore(element, list.children[i]);
  });
  find("#no-cameras").hidden = cameras.length > 0;
  find("#no-match").hidden = cameras.length === 0 || shown.length > 0;
}

let present = []; // cameras of the last answer

async function updateCameras() {
  const { cameras } = await request("GET", "api/cameras");
  const names = new Set(cameras.map((camera) => camera.name));
  for (const [name, card] of cards) {
    if (!names.has(name)) {
      card.element.remove();
      goneCards.push(card);
      cards.delete(name);
    }
  }
  const isNew = cameras.some(({ name }) => !cards.has(name));
  for (const camera of cameras) {
    if (!cards.has(camera.name))
      makeCard(camera.name);
    updateCard(camera);
  }
  present = cameras;
  arrange(cameras);
  summarize(cameras);
  if (isNew)
    updateCounts().catch(showProblem);
}

// Counts the cameras that play and names those in trouble.
function summarize(cameras) {
  const named = (state) => cameras.filter((camera) => camera.state === state).map(({ name }) => name);
  const list = (names) => names.slice(0, MAX_NAMED).join(", ") +
    (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "");
  const states = [...new Set(cameras.filter(isTrouble).map(({ state }) => state))].sort();
  const troubles = states.map((state) => `; ${state}: ${list(named(state))}`);
  showSummary(`${named("playing").length} of ${cameras.length} playing${troubles.join("")}`, troubles.length > 0);
}

function isInView({ element }) {
  const { top, bottom, height } = element.getBoundingClientRect();
  return height > 0 && bottom > 0 && top < innerHeight;
}

// Loads the next live picture of each camera that is in view and has none on its way. Where there are many, each
// has fewer.
async function updatePictures() {
  const inView = [...cards].filter(([, card]) => card.camera.width > 0 && isInView(card));
  const interval = Math.max(PICTURE_MS, inView.length * 1000 / PICTURES_PER_SECOND);
  for (const [name, card] of inView)
    if (!card.loading && !(isStreaming(card) && card.loadedAt) && performance.now() - card.loadedAt >= interval - PICTURE_MS / 2)
      loadPicture(name, card);
}

// Whether the card shows video, so that it needs no further picture.
const isStreaming = ({ element }) => element.classList.contains("streams");

function loadPicture(name, card) {
  const shown = find("img", card.element);
  const next = new Image();
  // One of a few widths, so that viewers share pictures.
  const width = Math.min(960, Math.ceil(shown.parentElement.clientWidth * devicePixelRatio / 160) * 160);
  card.loading = true;
  card.loadedAt = performance.now();
  next.onload = () => {
    card.loading = false;
    shown.src = next.src;
    shown.hidden = false;
  };
  next.onerror = () => { card.loading = false; };
  next.src = `${cameraPath(name)}/picture?boxes=${boxes()}&width=${width}&t=${Date.now()}`;
}

// Draws counts as steps; intervals without a frame stay empty.
function drawChart(element, counts, span) {
  const most = Math.max(1, ...counts.map((count) => count ?? 0));
  const x = (i) => (i * CHART.width / counts.length).toFixed(1);
  const y = (count) => (CHART.height - 1 - count / most * (CHART.height - 12)).toFixed(1);
  let line = "", area = "";
  counts.forEach((count, i) => {
    if (count === null)
      return;
    const begins = i === 0 || counts[i - 1] === null;
    line += `${begins ? "M" : "L"}${x(i)} ${y(count)}H${x(i + 1)}`;
    area += `M${x(i)} ${CHART.height}V${y(count)}H${x(i + 1)}V${CHART.height}Z`;
  });
  find(".line", element).setAttribute("d", line);
  find(".area", element).setAttribute("d", area);
  find(".most", element).textContent = `at most ${Math.max(0, ...counts.map((count) => count ?? 0))}`;
  find(".from", element).textContent = span >= 3600 ? `${span / 3600} h ago` : `${span / 60} min ago`;
}

async function updateCounts() {
  const span = Number(find("#window").value);
  for (const [name, card] of [...cards]) {
    const { element } = card;
    if (isSmall(element) || !isInView(card))
      continue;
    const { counts } = await request(
      "GET", `${cameraPath(name)}/counts?seconds=${span}&points=${CHART.points}`);
    drawChart(element, counts, span);
  }
}

// Events

const EVENT_TEXT = {
  "motion-begin": () => "motion",
  "motion-end": () => "motion ended",
  "scene-change": (event) => event.dx === undefined ? event.kind : `${event.kind} by ${event.dx}, ${event.dy} pixels`,
  arming: (event) => [event, ...event.regions].map((part) =>
    `${part.name ? `${part.name} ` : ""}${part.armed ? "armed" : part.paused_until ? "paused" : "disarmed"}`).join(", "),
  state: (event) => event.detail ? `${event.state}: ${event.detail}` : event.state,
  merged: (event) => `#${event.id} merged with #${event.other}`,
  split: (event) => `#${event.id} split from #${event.other}`,
  entered: (event) => `#${event.id} entered ${event.region}`,
  left: (event) => `#${event.id} left ${event.region}`,
  stayed: (event) => `#${event.id} stayed in ${event.region}`,
  faster: (event) => `#${event.id} at ${Math.round(event.speed)} km/h in ${event.region || event.line}`,
  slower: (event) => `#${event.id} at ${Math.round(event.speed)} km/h in ${event.region || event.line}`,
  crossed: (event) => `#${event.id} crossed ${event.line} ${event.direction}`,
};

function describe(event) {
  const text = EVENT_TEXT[event.event] || (() => `#${event.id} ${event.event}`);
  return `${event.source}: ${text(event)}`;
}

// Shows a button of an item of a list: its picture, or the button that plays its clip.
function showButton(item, selector, onClick, src = null) {
  const button = find(selector, item);
  if (src)
    find("img", button).src = src;
  button.hidden = false;
  button.addEventListener("click", onClick);
  return button;
}

function makeEvent(event) {
  const item = find("#event-template").content.firstElementChild.cloneNode(true);
  find(".what", item).textContent = describe(event);
  find(".when", item).textContent = ago(event.utc);
  find(".when", item).title = event.utc;
  const caption = `${event.source}, ${new Date(event.utc).toLocaleString()}`;
  if (event.picture) {
    const thumbnail = showButton(item, ".thumbnail", () => view(event.picture, caption), event.picture);
    find("img", thumbnail).alt = `Beginning of motion at ${event.source}`;
  }
  if (event.clip)
    showButton(item, ".clip", () => view(event.clip, caption, event.kept));
  return item;
}

let shownEvents = "";

async function updateEvents() {
  const kinds = find("#kinds").value;
  const { events } = await request(
    "GET", `api/events?limit=${MAX_EVENTS}${kinds ? `&kinds=${kinds}` : ""}`);
  const list = find("#events");
  const key = JSON.stringify(events.map((event) => [event.number, event.utc, event.picture, event.clip, event.kept]));
  find("#no-events").hidden = events.length > 0;
  if (key !== shownEvents)
    list.replaceChildren(...events.map(makeEvent));
  else
    events.forEach((event, i) => { find(".when", list.children[i]).textContent = ago(event.utc); });
  shownEvents = key;
}

// Dialogs

for (const button of document.querySelectorAll("dialog .cancel"))
  button.addEventListener("click", () => button.closest("dialog").close());

// Calls `save` when the form is sent. The dialog closes if that succeeds, else it shows the error.
function onSubmit(dialog, save) {
  find("form", dialog).onsubmit = async (event) => {
    event.preventDefault();
    try {
      await save(find("form", dialog).elements);
      dialog.close();
      await updateCameras();
    } catch (error) {
      find(".error", dialog).textContent = error.message;
    }
  };
}

function parseSettings(text) {
  const settings = {};
  for (const line of text.split("\n").map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf("=");
    if (at < 1)
      throw new Error(`"${line}" has not the form KEY=VALUE`);
    settings[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return settings;
}

// The changes that make `after` of `before`; null removes a key.
function difference(before, after) {
  const changes = {};
  for (const key of Object.keys(before))
    if (!(key in after))
      changes[key] = null;
  for (const [key, value] of Object.entries(after))
    if (before[key] !== value)
      changes[key] = value;
  return changes;
}

let liveKeys = null; // of settings that may change while a camera plays

const isLive = (key) => liveKeys.has(key) || (key.startsWith("schedule.") && liveKeys.has("schedule.*"));

// Says what the change costs that the dialog's fields stand for.
function showCost(dialog, before, fields) {
  let text = "";
  try {
    const keys = Object.keys(difference(before, { uri: fields.uri.value.trim(), ...parseSettings(fields.settings.value) }));
    const slow = keys.filter((key) => !isLive(key));
    text = slow.length ? `The camera is connected again and learns its background anew, because of ${slow.join(", ")}.` :
      keys.length ? "This holds at once; the camera goes on." : "";
  } catch { /* the text is not complete yet */ }
  find(".cost", dialog).textContent = text;
}

async function openCameraDialog(name) {
  const dialog = find("#camera-dialog");
  const fields = find("form", dialog).elements;
  const { settings: before, version } = name ? await request("GET", cameraPath(name)) : { settings: {} };
  const { uri = "", ...others } = before;
  find("h2", dialog).textContent = name ? `Change ${name}` : "Add camera";
  find(".error", dialog).textContent = "";
  fields.name.value = name || "";
  fields.name.readOnly = Boolean(name);
  find(".ground", dialog).hidden = !name;
  fields.uri.value = uri;
  fields.settings.value = Object.entries(others).map(([key, value]) => `${key}=${value}`).join("\n");
  if (name)
    liveKeys ??= new Set((await request("GET", "api/settings")).live);
  dialog.oninput = () => name && showCost(dialog, before, fields);
  find(".cost", dialog).textContent = "";
  // Only what changed is sent, so a URI that is not touched keeps its user and password.
  onSubmit(dialog, async () => {
    const after = { uri: fields.uri.value.trim(), ...parseSettings(fields.settings.value) };
    if (name)
      await request("PATCH", cameraPath(name), JSON.stringify(difference(before, after)), version);
    else if (cards.has(fields.name.value))
      throw new Error(`there is a camera ${fields.name.value} already`);
    else
      await request("PUT", cameraPath(fields.name.value), JSON.stringify(after));
  });
  dialog.showModal();
}

function openRemoveDialog(name) {
  const dialog = find("#remove-dialog");
  find(".name", dialog).textContent = name;
  find(".error", dialog).textContent = "";
  onSubmit(dialog, () => request("DELETE", cameraPath(name)));
  dialog.showModal();
}

function showLogin() {
  const dialog = find("#login-dialog");
  if (dialog.open)
    return;
  onSubmit(dialog, async (fields) => {
    await request("POST", "api/login", fields.token.value);
    fields.token.value = "";
    await updateSession();
  });
  dialog.showModal();
}

// Without the right to change something, the page has no buttons for it.
async function updateSession() {
  const { token, changes } = await request("GET", "api/session");
  find("#sign-out").hidden = !token;
  document.body.classList.toggle("reader", !changes);
}

find("#sign-out").addEventListener("click", async () => {
  await request("POST", "api/logout").then(() => location.reload(), showProblem);
});

// Shows a picture, a clip, or the part of a clip that another address gives.
function view(url, caption, isKept = false, part = url) {
  const dialog = find("#viewer");
  const image = find("img", dialog);
  const video = find("video", dialog);
  const isClip = url.endsWith(".mp4");
  image.hidden = isClip;
  video.hidden = !isClip;
  (isClip ? video : image).src = part;
  find("p", dialog).textContent = caption;
  image.onerror = video.onerror = () => { find("p", dialog).textContent = `${caption}: this cannot be shown, or it is there no more.`; };
  find(".buttons", dialog).hidden = !isClip;
  find(".keep", dialog).checked = isKept;
  find(".keep", dialog).onchange = ({ target }) => request("PUT", url, JSON.stringify({ keep: target.checked }))
    .catch((error) => { target.checked = !target.checked; find("p", dialog).textContent = error.message; });
  find(".export", dialog).href = part;
  dialog.showModal();
  if (isClip)
    video.play().catch(() => {});
}

find("#viewer").addEventListener("close", () => {
  find("#viewer video").removeAttribute("src");
  find("#viewer video").load();
  find("#viewer img").removeAttribute("src");
});

// On a narrow window, cameras and events take turns.
function showPart(events) {
  document.body.classList.toggle("shows-events", events);
  find("#show-cameras").setAttribute("aria-pressed", !events);
  find("#show-events").setAttribute("aria-pressed", events);
  scrollTo(0, 0);
}

find("#show-cameras").addEventListener("click", () => showPart(false));
find("#show-events").addEventListener("click", () => showPart(true));
find("#show-tools").addEventListener("click", () => {
  const shown = document.body.classList.toggle("shows-tools");
  find("#show-tools").setAttribute("aria-pressed", shown);
});
find("#search").addEventListener("input", () => arrange(present));
find("#filter").addEventListener("change", () => arrange(present));
find("#size").value = localStorage.getItem("size") || "auto";
find("#size").addEventListener("change", () => {
  localStorage.setItem("size", find("#size").value);
  arrange(present);
  updateCounts().catch(showProblem);
});
find("#add").addEventListener("click", () => openCameraDialog(null));
find("#window").addEventListener("change", () => updateCounts().catch(showProblem));
find("#kinds").addEventListener("change", () => updateEvents().catch(showProblem));

updateSession().catch(showProblem);
repeat(updateCameras, STATUS_MS);
repeat(updatePictures, PICTURE_MS);
repeat(updateCounts, COUNTS_MS);
repeat(updateEvents, EVENTS_MS);
