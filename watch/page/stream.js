// SPDX-License-Identifier: LGPL-2.1-or-later
// The camera's own video in its card, by Media Source Extensions, with boxes that are drawn over it. Where that is not
// possible, and until the first frame, the card has its pictures.
"use strict";

const STREAM_CHECK_MS = 500;
const STREAM_WAIT_MS = 15000;       // for the first frame, and for the next one
const STREAM_RETRY_MS = 2000;       // after the first failure; twice as long after each further one
const STREAM_MOST_RETRY_MS = 60000;
const STREAM_LASTING_MS = 10000;    // a stream that played so long was a success
const MAX_STREAMS = 8;
const MAX_QUEUE = 8e6;              // bytes that wait for the decoder
const KEPT_SECONDS = 5;             // of the video behind the frame on the screen
const FIRST_DELAY = 1, LEAST_DELAY = 0.3, MOST_DELAY = 2;  // seconds that the screen is behind the newest frame
const RESULT_SECONDS = 0.5;         // for which a result holds while the next one is missing
const SAME_FRAME = 0.004;           // seconds between times of the same frame, at most
const BOX_COLOR = "#00ff00";

const canStream = () => "MediaSource" in window && find("#video").checked;

class Stream {
  constructor(name, element) {
    this.element = element;
    this.video = find("video", element);
    this.canvas = find("canvas", element);
    this.queue = [];        // what the decoder has not got yet
    this.results = [];      // of frames, the oldest first
    this.delay = FIRST_DELAY;
    this.shownAt = performance.now();
    this.firstAt = null;    // when the first frame was shown
    const url = new URL(`${cameraPath(name)}/stream`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.takeText(JSON.parse(data)) : this.append(data));
    this.socket.onclose = () => this.close();
  }

  takeText(message) {
    if (!message.type)
      this.takeResult(message);
    else if (MediaSource.isTypeSupported(message.type))
      this.open(message.type);
    else
      this.close(true);
  }

  open(type) {
    this.source = new MediaSource();
    this.source.addEventListener("sourceopen", () => {
      if (this.closed)
        return;
      this.buffer = this.source.addSourceBuffer(type);
      this.buffer.addEventListener("updateend", () => this.follow());
      this.buffer.addEventListener("error", () => this.close());
      this.follow();
    }, { once: true });
    this.url = URL.createObjectURL(this.source);
    this.video.src = this.url;
  }

  append(data) {
    this.queue.push(data);
    if (this.queue.reduce((total, { byteLength }) => total + byteLength, 0) > MAX_QUEUE)
      this.close();
    else
      this.follow();
  }

  // Gives the decoder the next data, and keeps the screen near the newest frame.
  follow() {
    if (this.closed || !this.buffer || this.buffer.updating)
      return;
    const { buffered } = this.buffer;
    if (buffered.length > 0)
      this.keepPace(buffered.start(buffered.length - 1), buffered.end(buffered.length - 1));
    if (buffered.length > 0 && buffered.start(0) < this.video.currentTime - 2 * KEPT_SECONDS) {
      this.buffer.remove(0, this.video.currentTime - KEPT_SECONDS);
      return;
    }
    const next = this.queue.shift();
    if (next)
      this.buffer.appendBuffer(next);
  }

  // What is buffered without a gap, up to the newest frame.
  keepPace(begin, end) {
    const { video } = this;
    if (video.paused && end - begin >= this.delay) {
      video.play().catch(() => {});
      this.watchFrames();
    }
    const behind = end - video.currentTime;
    if (video.currentTime < begin || behind > this.delay + 2)
      video.currentTime = Math.max(begin, end - this.delay);
    video.playbackRate = behind > this.delay + 0.3 ? 1.1 : behind < this.delay - 0.15 ? 0.9 : 1;
  }

  // Results come a moment after their frames, so the screen waits for them.
  takeResult(result) {
    const buffered = this.buffer?.buffered;
    if (buffered?.length) {
      const late = buffered.end(buffered.length - 1) - result.time;
      this.delay = Math.min(MOST_DELAY, Math.max(LEAST_DELAY, late + 0.1, this.delay * 0.99));
    }
    this.results.push(result);
    while (this.results[0]?.time < this.video.currentTime - KEPT_SECONDS)
      this.results.shift();
  }

  watchFrames() {
    const next = (_, frame) => {
      if (this.closed)
        return;
      this.shownAt = performance.now();
      this.firstAt ??= this.shownAt;
      this.element.classList.add("streams");
      this.draw(frame ? frame.mediaTime : this.video.currentTime);
      this.watchFrames();
    };
    if (this.video.requestVideoFrameCallback)
      this.video.requestVideoFrameCallback(next);
    else
      this.video.addEventListener("timeupdate", next, { once: true });
  }

  // Draws the boxes of the frame that was presented at a time, or of the last one before it that has a result.
  draw(time) {
    const { canvas, video } = this;
    const width = canvas.width = canvas.clientWidth * devicePixelRatio;
    const height = canvas.height = canvas.clientHeight * devicePixelRatio;
    const result = this.results.findLast((one) => one.time <= time + SAME_FRAME);
    this.drawn = result;
    if (!boxes() || !result || time - result.time > RESULT_SECONDS || !video.videoWidth)
      return;
    const scale = Math.min(width / video.videoWidth, height / video.videoHeight);
    const x = video.videoWidth * scale / result.width, y = video.videoHeight * scale / result.height;
    const pen = canvas.getContext("2d");
    pen.translate((width - video.videoWidth * scale) / 2, (height - video.videoHeight * scale) / 2);
    pen.lineWidth = Math.max(2, Math.round(height / 288));
    pen.font = `${Math.round(Math.max(11 * devicePixelRatio, height / 30))}px system-ui, sans-serif`;
    for (const box of result.boxes)
      drawBox(pen, box, x, y);
  }

  // Whether it plays, or may still begin to.
  isAlive() {
    return performance.now() - this.shownAt < STREAM_WAIT_MS;
  }

  // The card has its pictures again. `forEver`: the browser does not play such a video.
  close(forEver = false) {
    if (this.closed)
      return;
    this.closed = true;
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.element.classList.remove("streams");
    this.video.removeAttribute("src");
    this.video.load();
    URL.revokeObjectURL(this.url);
    this.lasted = this.firstAt !== null && performance.now() - this.firstAt > STREAM_LASTING_MS;
    this.isUseless = forEver;
  }
}

// The colour of an identity, as in the pictures.
const colorOf = (id) => (id ? `hsl(${id % 100000 * 0.6180339887498949 % 1 * 360}deg 100% 65%)` : BOX_COLOR);

function drawBox(pen, [id, left, top, width, height, speed], x, y) {
  const text = [id ? `#${id}` : "", speed === undefined ? "" : `${Math.round(speed)} km/h`].join(" ").trim();
  const line = pen.lineWidth;
  pen.strokeStyle = colorOf(id);
  pen.strokeRect(left * x + line / 2, top * y + line / 2, Math.max(width * x - line, 1), Math.max(height * y - line, 1));
  if (!text)
    return;
  const { width: length, fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = pen.measureText(text);
  const base = Math.max(top * y - descent - 1, ascent);
  pen.fillStyle = "rgb(0 0 0 / 60%)";
  pen.fillRect(left * x, base - ascent, length + 4, ascent + descent);
  pen.fillStyle = pen.strokeStyle;
  pen.fillText(text, left * x + 2, base);
}

// Whether the card should have a stream.
const wantsStream = (card) => canStream() && !document.hidden && card.camera.stream && !card.streamIsUseless &&
  !isSmall(card.element) && isInView(card);

function endStream(card) {
  const { stream } = card;
  stream.close();
  card.stream = null;
  card.streamIsUseless = stream.isUseless;
  card.streamWait = stream.lasted || !card.streamWait ? STREAM_RETRY_MS : Math.min(2 * card.streamWait, STREAM_MOST_RETRY_MS);
  card.streamAt = performance.now() + card.streamWait;
}

function updateStreams() {
  for (const card of goneCards.splice(0))
    card.stream?.close();
  for (const card of cards.values())
    if (card.stream && (card.stream.closed || !card.stream.isAlive()))
      endStream(card);
    else if (card.stream && !wantsStream(card)) {
      card.stream.close();
      card.stream = null;
    }
  let room = MAX_STREAMS - [...cards.values()].filter(({ stream }) => stream).length;
  for (const [name, card] of cards)
    if (room > 0 && !card.stream && wantsStream(card) && performance.now() >= (card.streamAt ?? 0)) {
      card.stream = new Stream(name, card.element);
      room--;
    }
}

find("#video").checked = localStorage.getItem("video") !== "off";
find("#video").addEventListener("change", () => {
  localStorage.setItem("video", find("#video").checked ? "on" : "off");
  updateStreams();
});
document.addEventListener("visibilitychange", updateStreams);
setInterval(updateStreams, STREAM_CHECK_MS);
