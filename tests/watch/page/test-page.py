#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of ccl-watch in a headless Chromium. Prints TAP.

Screenshots go to the folder CCL_SCREENSHOTS, if that is set.
"""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

TOKEN = "a token of the tests 0123456789"
READ_TOKEN = "a token of readers 0123456789"
VIDEO = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
CHROMIUM = shutil.which("chromium")
try:
    import browser
except ImportError:
    browser = None


class page:
    """A page and the program behind it, both of which end with the block."""

    def __init__(self, *arguments):
        if not CHROMIUM:
            raise tap.Skip("chromium is not installed")
        if not browser:
            raise tap.Skip("python3-websocket is not installed")
        self.server = served.Served("--set", "pace=true", "--set", "loop=true", "--web-folder", served.folder, *arguments)
        self.browser = browser.Browser(CHROMIUM)
        self.browser.size(1280, 860)
        self.browser.open(self.server.url + "/")

    def __enter__(self):
        return self.server, self.browser

    def __exit__(self, *_):
        self.browser.close()
        self.server.stop()


def shoot(view, name):
    if folder := os.environ.get("CCL_SCREENSHOTS"):
        view.screenshot(pathlib.Path(folder) / f"{name}.png")


def card(name):
    return f"document.querySelector('[data-name={name}]')"


def problems(view):
    """What the page reported, except that a camera that begins anew has neither picture nor stream for a moment."""
    return [problem for problem in view.problems if "/picture?" not in problem and "/stream'" not in problem]


def shows_cameras():
    """the page shows live pictures, figures, counts and events, in light, dark and on a phone"""
    cameras = [VIDEO, served.video("slow", (2, False), (30, True))]
    if not os.path.exists(VIDEO):
        cameras = cameras[1:] * 2
    with page("--folder", served.folder / "store", "--set", "clips=true", f"entrance={cameras[0]}",
              f"yard={cameras[1]}", "gate=rtsp://127.0.0.1:9/stream") as (server, view):
        view.wait(f"{card('entrance')}?.querySelector('img').naturalWidth > 100")
        view.wait(f"{card('entrance')}.querySelector('.fps').textContent > 1")
        view.wait(f"{card('entrance')}.querySelector('.line').getAttribute('d')?.startsWith('M')")
        view.wait("document.querySelector('#summary').textContent == '2 of 3 playing; lost: gate'")
        view.wait(f"{card('gate')}.querySelector('.state').textContent == 'lost'")
        assert view.evaluate(f"{card('gate')}.querySelector('.detail').textContent")
        view.wait("[...document.querySelectorAll('.thumbnail img')].some(i => i.naturalWidth > 100)")
        first = view.evaluate(f"{card('entrance')}.querySelector('img').src")
        view.wait(f"{card('entrance')}.querySelector('img').src != '{first}'")
        name = f"{card('entrance')}.querySelector('h3')"
        tap.equal(view.evaluate(f"{name}.getBoundingClientRect().height < 2 * parseFloat(getComputedStyle({name}).fontSize)"), True,
                  "the name of a camera is one line")
        shoot(view, "light")
        view.size(1280, 860, dark=True)
        background = "getComputedStyle(document.body).backgroundColor"
        tap.equal(view.evaluate(background), "rgb(14, 19, 24)", "background in the dark")
        shoot(view, "dark")
        view.size(390, 844, scale=2)
        tap.equal(view.evaluate("document.documentElement.scrollWidth"), 390, "width on a phone")
        top = view.evaluate("document.querySelector('.camera').getBoundingClientRect().top")
        assert top < 160, f"the first camera begins {top} pixels from the top of a phone"
        shoot(view, "phone")
        view.evaluate("document.querySelector('#show-tools').click()")
        view.wait("document.querySelector('#search').getBoundingClientRect().height > 10")
        tap.equal(view.evaluate("document.documentElement.scrollWidth"), 390, "width of the tools on a phone")
        shoot(view, "phone-tools")
        view.evaluate("document.querySelector('#show-tools').click()")
        tap.equal(problems(view), [], "problems")
        server.stop()
        view.wait("document.querySelector('#summary').textContent.startsWith('No answer from ccl-watch since')")
        tap.equal(view.evaluate("getComputedStyle(document.querySelector('main')).opacity"), "0.5", "grey without an answer")
        shoot(view, "offline")


def many_cameras():
    """50 cameras fit a few screens, those that play come first where many are lost; one is searched for and opened; events are at hand"""
    video = served.video("many", (30, True))
    names = "[...document.querySelectorAll('.camera:not([hidden])')].map((card) => card.dataset.name)"
    with page("--set", "max-fps=2", *(f"p{number}={video}" for number in range(5)),
              *(f"c{number}=rtsp://127.0.0.1:9/stream" for number in range(45))) as (_, view):
        view.wait("document.querySelectorAll('.state.playing, .state.motion').length == 5", 30)
        view.wait("document.querySelectorAll('.state.lost').length == 45", 30)
        order = view.evaluate(names)
        tap.equal(order, [f"p{number}" for number in range(5)] + [f"c{number}" for number in range(45)])
        view.wait("document.querySelector('#summary').textContent == '5 of 50 playing; lost: c0, c1, c2 and 42 more'")
        height = view.evaluate("document.documentElement.scrollHeight")
        assert height < 1800, f"{height} pixels high"
        shoot(view, "many")
        view.evaluate("""{ document.querySelector('#search').value = 'P3';
            document.querySelector('#search').dispatchEvent(new Event('input')); }""")
        view.wait(f"{names}.join() == 'p3'")
        view.evaluate(f"{card('p3')}.querySelector('.picture').click()")
        view.wait(f"{card('p3')}.querySelector('.line').getAttribute('d')")
        assert view.evaluate(f"{card('p3')}.querySelector('.edit').offsetWidth"), "the open card has its buttons"
        view.evaluate("document.querySelector('#search').value = ''")
        view.evaluate("""{ document.querySelector('#filter').value = 'trouble';
            document.querySelector('#filter').dispatchEvent(new Event('change')); }""")
        tap.equal(len(view.evaluate(names)), 45, "in trouble")
        view.size(390, 844, scale=2)
        tap.equal(view.evaluate("document.documentElement.scrollWidth"), 390, "width on a phone")
        height = view.evaluate("document.documentElement.scrollHeight")
        assert height < 2500, f"{height} pixels high on a phone"
        shoot(view, "many-phone")
        view.evaluate("document.querySelector('#show-events').click()")
        view.wait("document.querySelector('#events').getBoundingClientRect().top < 300")
        shoot(view, "many-phone-events")
        tap.equal(problems(view), [], "problems")


def left_edges(view, name):
    """Of the bright square in a frame of the video, and of the box that is drawn over that frame."""
    return view.evaluate(f"""new Promise((resolve) => {{
        const {{ stream }} = cards.get('{name}');
        const waiting = stream.draw;
        stream.draw = (time) => {{
          stream.draw = waiting;
          stream.draw(time);
          const canvas = new OffscreenCanvas({served.WIDTH}, {served.HEIGHT}), pen = canvas.getContext('2d');
          pen.drawImage(stream.video, 0, 0, canvas.width, canvas.height);
          const row = pen.getImageData(0, 60, canvas.width, 1).data;
          let left = 0;
          while (left < canvas.width && row[4 * left] < 160)
            left++;
          resolve([left, stream.drawn?.boxes.length == 1 ? stream.drawn.boxes[0][1] : null]);
        }}; }})""")


def streams_video():
    """a card plays the camera's own video with boxes that fit it, or has pictures where that is not possible or wanted"""
    video = served.video("streams", (2, False), (28, True))
    with page(f"a={video}", f"b={video}") as (server, view):
        for name in "a", "b":
            view.wait(f"{card(name)}?.classList.contains('streams')", 30)
        time = f"{card('a')}.querySelector('video').currentTime"
        begin = view.evaluate(time)
        view.wait(f"{time} > {begin + 1}")
        view.wait("cards.get('a').stream.drawn?.boxes.length == 1")
        canvas = f"{card('a')}.querySelector('canvas')"
        assert view.evaluate(f"{canvas}.getContext('2d').getImageData(0, 0, {canvas}.width, {canvas}.height).data"
                             ".some((value) => value > 0)"), "something is drawn"
        shoot(view, "stream")
        edges = [left_edges(view, "a") for _ in range(30)]
        known = [(square, box) for square, box in edges if box is not None and square < served.WIDTH - 40]
        agree = [abs(square - box) <= 2 for square, box in known]
        assert len(known) >= 5 and sum(agree) >= 0.9 * len(agree), edges
        pictures = view.evaluate(f"{card('a')}.querySelector('img').src")
        view.evaluate("document.querySelector('#video').click()")
        view.wait("!document.querySelector('.streams')")
        view.wait(f"{card('a')}.querySelector('img').src != '{pictures}'")
        view.evaluate("MediaSource.isTypeSupported = () => false")
        view.evaluate("document.querySelector('#video').click()")
        view.wait("cards.get('a').streamIsUseless")
        pictures = view.evaluate(f"{card('a')}.querySelector('img').src")
        view.wait(f"{card('a')}.querySelector('img').src != '{pictures}'")
        tap.equal(view.evaluate("document.querySelector('.streams')"), None)
        tap.equal(problems(view), [], "problems")


def streams_again():
    """a card has pictures while its camera is away, and video again afterwards"""
    with page("--folder", served.folder / "again", f"a={served.video('again', (6, True))}") as (_, view):
        for wanted in "", "!", "":
            view.wait(f"{wanted}{card('a')}?.classList.contains('streams')", 40)
        tap.equal(problems(view), [], "problems")


def plays_clip():
    """the page plays the clip of a motion, also from the timeline of the day"""
    clip = served.video("clip", (2, True), (60, False))
    with page("--folder", served.folder / "clips", "--set", "clips=true", "--set", "loop=false",
              "--set", "clip-post=0", f"a={clip}") as (server, view):
        view.wait("document.querySelector('.clip:not([hidden])') !== null")
        view.evaluate("document.querySelector('.clip:not([hidden])').click()")
        view.wait("document.querySelector('#viewer video').currentTime > 0.5")
        shoot(view, "clip")
        view.evaluate("document.querySelector('#viewer').close()")
        view.wait(f"fetch('api/objects?camera=a').then((answer) => answer.json()).then(({{ objects }}) => objects.some((o) => o.clip))")
        view.evaluate(f"{card('a')}.querySelector('.day').click()")
        view.wait("document.querySelectorAll('#timeline-dialog .objects .playable').length")
        # Before the program started, nothing is known; 06:00 to 12:00 it had no frame.
        gaps = view.evaluate("""{ const day = [new Date(2020, 1, 29), new Date(2020, 2, 1)];
            drawDay({ counts: [null, null, 3, 0], end: day[1].toISOString(), since: new Date(2020, 1, 29, 6).toISOString(), step: 21600 }, day);
            const { x, width } = document.querySelector('#timeline-dialog .gaps rect:only-child').attributes;
            [Number(x.value), Number(width.value)]; }""")
        tap.equal(gaps, [360, 360], "gaps of the day")
        view.wait("document.querySelector('#timeline-dialog polyline')?.getAttribute('points').includes(',')")
        view.wait("[...document.querySelectorAll('#timeline-dialog img')].some(({ naturalWidth }) => naturalWidth > 100)")
        shoot(view, "timeline")
        view.size(390, 844, scale=2)
        tap.equal(view.evaluate("document.querySelector('#timeline-dialog').scrollWidth <= 390"), True, "width on a phone")
        tap.equal(view.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth == clientWidth)(document.querySelector('#timeline-dialog ol'))"),
                  True, "rows are as wide as their list")
        shoot(view, "timeline-phone")
        view.evaluate("document.querySelector('#timeline-dialog .objects .playable').dispatchEvent(new MouseEvent('click'))")
        view.wait("document.querySelector('#viewer video').currentTime > 0.5")
        view.evaluate("document.querySelector('#viewer .keep').click()")
        clip, = (object["clip"] for object in server.get("/api/objects?camera=a&limit=1")["objects"])
        served.wait_for(lambda: server.get("/api/objects?camera=a&limit=1")["objects"][0].get("kept"), "the clip is not kept")
        tap.equal(view.evaluate("new URL(document.querySelector('#viewer .export').href).pathname"), clip)
        played = view.evaluate("document.querySelector('#viewer video').src")
        tap.equal(view.evaluate("document.querySelector('#viewer .export').href"), played, "what is downloaded is what is played")
        assert "?from=" in played and 2 < view.evaluate("document.querySelector('#viewer video').duration") < 8, played
        shoot(view, "keep")
        view.evaluate("document.querySelector('#viewer').close()")
        view.evaluate("""{ const { day } = document.querySelector('#timeline-dialog form').elements;
            day.value = '2020-02-29'; day.dispatchEvent(new Event('change')); }""")
        view.wait("document.querySelector('#timeline-dialog .found').textContent == 'Nothing was seen.'")
        shows_part_of_day(view, server.get("/api/objects?camera=a")["objects"])
        tap.equal(problems(view), [], "problems")
        view.evaluate("view('/media/a/2026-01-01T00-00-00.000Z.mp4', 'a')")
        view.wait("document.querySelector('#viewer p').textContent.includes('cannot be shown')")


def shows_part_of_day(view, objects):
    """Times show the objects of a minute, and hide them before that."""
    begin = min(item["begin"] for item in objects)

    def found(start, end):
        return view.evaluate(f"""(async () => {{ const minutes = (shift) => {{ const time = new Date(Date.parse('{begin}') + shift * 60000);
                return `${{time.getHours()}}`.padStart(2, 0) + ':' + `${{time.getMinutes()}}`.padStart(2, 0); }};
            const fields = document.querySelector('#timeline-dialog form').elements;
            fields.day.value = dateText(new Date('{begin}'));
            fields.from.value = minutes({start}); fields.to.value = minutes({end});
            await showDay(); return document.querySelector('#timeline-dialog .found').textContent; }})()""")
    if "00:01" < view.evaluate(f"new Date('{begin}').toTimeString().slice(0, 5)") < "23:59":
        number = sum(item["begin"][:16] == begin[:16] for item in objects)
        tap.equal(found(0, 1), f"{number} object{'s' * (number != 1)}")
        tap.equal(found(-2, 0), "Nothing was seen.")


def manages_cameras():
    """a camera is added, changed and removed on the page"""
    moving = served.video("moving", (20, True))
    with page() as (server, view):
        view.wait("!document.querySelector('#no-cameras').hidden")
        view.evaluate("document.querySelector('#add').click()")
        view.evaluate(f"""{{ const form = document.querySelector('#camera-dialog form').elements;
            form.name.value = 'new'; form.uri.value = 'nowhere';
            document.querySelector('#camera-dialog [type=submit]').click(); }}""")
        view.wait("document.querySelector('#camera-dialog .error').textContent")
        shoot(view, "add")
        view.evaluate(f"""{{ const form = document.querySelector('#camera-dialog form').elements;
            form.uri.value = {str(moving)!r}; form.settings.value = 'pace=true\\nloop=true';
            document.querySelector('#camera-dialog [type=submit]').click(); }}""")
        view.wait(f"{card('new')}?.querySelector('img').naturalWidth > 100")
        view.evaluate(f"{card('new')}.querySelector('.edit').click()")
        view.wait("document.querySelector('#camera-dialog').open")
        view.evaluate("""{ const form = document.querySelector('#camera-dialog form').elements;
            form.settings.value += '\\nccl.max-area=77';
            form.settings.dispatchEvent(new Event('input', { bubbles: true }));
            window.cost = document.querySelector('#camera-dialog .cost').textContent;
            form.settings.value += '\\nresults=events';
            form.settings.dispatchEvent(new Event('input', { bubbles: true }));
            window.moreCost = document.querySelector('#camera-dialog .cost').textContent;
            form.settings.value = form.settings.value.replace('\\nresults=events', '');
            document.querySelector('#camera-dialog [type=submit]').click(); }""")
        tap.equal(view.evaluate("window.cost"), "This holds at once; the camera goes on.")
        assert "anew, because of results." in view.evaluate("window.moreCost")
        served.wait_for(lambda: server.get("/api/cameras/new")["settings"].get("ccl.max-area") ==
                        "77", "the setting")
        view.wait("!document.querySelector('#camera-dialog').open")
        view.evaluate(f"{card('new')}.querySelector('.remove').click()")
        view.evaluate("document.querySelector('#remove-dialog [type=submit]').click()")
        view.wait(f"!{card('new')}")
        tap.equal(server.get("/api/cameras")["cameras"], [])


BOX = "(({left, top, width, height}) => [left, top, width, height])(document.querySelector('%s').getBoundingClientRect())"


def press(view, dialog, start, end=None):
    """Presses the mouse at a place of the picture in a dialog, in parts of it, and releases it there or at another place."""
    left, top, width, height = view.evaluate(BOX % f"{dialog} .scene")
    for kind, (x, y), buttons in ("Pressed", start, 1), ("Moved", end or start, 1), ("Released", end or start, 0):
        view.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=left + x * width, y=top + y * height, button="left",
                  buttons=buttons, clickCount=1)


def drag(view, selector, x, y):
    """Drags the middle of an element to a place of the picture in the dialog, in parts of it."""
    left, top, width, height = view.evaluate(BOX % selector)
    scene = view.evaluate(BOX % "#ground-dialog .scene")
    press(view, "#ground-dialog",
          ((left + width / 2 - scene[0]) / scene[2], (top + height / 2 - scene[1]) / scene[3]), (x, y))


def sets_ground():
    """four points are dragged on the live picture, and their metres become a setting of the camera"""
    places = [(0.1, 0.2), (0.8, 0.25), (0.9, 0.75), (0.05, 0.9)]
    video = VIDEO if os.path.exists(VIDEO) else served.video("ground", (20, True))
    with page("--set", "ccl.max-area=77000", f"a={video}") as (server, view):
        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        view.evaluate(f"{card('a')}.querySelector('.edit').click()")
        view.wait("document.querySelector('#camera-dialog').open")
        view.evaluate("document.querySelector('#camera-dialog .ground').click()")
        view.wait("document.querySelector('#ground-dialog img').naturalWidth > 100")
        for i, place in enumerate(places):
            drag(view, f'[data-point="{i}"]', *place)
        view.evaluate("""{ const fields = document.querySelector('#ground-dialog form').elements;
            [[0, 0], [7.5, 0], [7.5, -9], [0, -9.25]].forEach(([x, y], i) => {
              fields[`x${i}`].value = x; fields[`y${i}`].value = y; });
            document.querySelector('[data-point="3"]').dispatchEvent(
              new KeyboardEvent('keydown', { key: 'ArrowRight', cancelable: true })); }""")
        shoot(view, "ground")
        view.evaluate("document.querySelector('#ground-dialog [type=submit]').click()")
        view.wait("!document.querySelector('#ground-dialog').open")
        view.evaluate("document.querySelector('#camera-dialog [type=submit]').click()")
        settings = served.wait_for(
            lambda: (found := server.get("/api/cameras/a")["settings"]).get("ccltrack.ground") and found, "the setting")
        points = [[float(number.rstrip("%")) for number in item.replace(" ", ",").split(",")]
                  for item in settings["ccltrack.ground"].split("; ")]
        metres = [point[2:] for point in points]
        tap.equal(metres, [[0, 0], [7.5, 0], [7.5, -9], [0, -9.25]], "metres")
        places[3] = places[3][0] + 0.0025, places[3][1]
        for point, (x, y) in zip(points, places):
            assert abs(point[0] - 100 * x) < 0.2 and abs(point[1] - 100 * y) < 0.2, (points, places)
        tap.equal(settings["ccl.max-area"], "77000")

        view.wait("!document.querySelector('#camera-dialog').open")
        view.evaluate(f"{card('a')}.querySelector('.edit').click()")
        view.wait("document.querySelector('#camera-dialog').open")
        view.evaluate("document.querySelector('#camera-dialog .ground').click()")
        tap.equal(view.evaluate("document.querySelector('#ground-dialog form').elements.y3.value"), "-9.25")
        view.evaluate("document.querySelector('#ground-dialog .none').click()")
        view.wait("!document.querySelector('#ground-dialog').open")
        view.evaluate("document.querySelector('#camera-dialog [type=submit]').click()")
        served.wait_for(lambda: "ccltrack.ground" not in server.get("/api/cameras/a")["settings"], "no setting")
        tap.equal(problems(view), [], "problems")


def open_areas(view):
    view.evaluate(f"{card('a')}.querySelector('.areas').click()")
    view.wait("document.querySelector('#areas-dialog').open")
    view.wait("document.querySelector('#areas-dialog img').naturalWidth > 100")


def save_areas(view):
    view.evaluate("document.querySelector('#areas-dialog [type=submit]').click()")
    view.wait("!document.querySelector('#areas-dialog').open")


def points_of(item):
    return [tuple(float(number.rstrip("%")) for number in word.split(",")) for word in item.split() if "," in word]


def are_near(got, places):
    """A click is at a whole pixel."""
    return len(got) == len(places) and all(abs(a - b) < 0.5 for p, q in zip(got, places) for a, b in zip(p, q))


def rename(view, values):
    view.evaluate(f"""{{ const row = document.querySelector('#areas-dialog .shapes').lastElementChild;
        for (const [field, value] of {values}) {{
          row.querySelector(`.${{field}}`).value = value;
          row.querySelector(`.${{field}}`).dispatchEvent(new Event('change')); }} }}""")


AREAS = "document.querySelector('#areas-dialog .%s')"


def draws_regions():
    """regions and lines are drawn on the live picture, moved, named and deleted, and become a setting of the camera"""
    with page("--set", "ccltrack.regions=line 'in; out' 16,12 80,60", f"a={served.video('drawn', (20, True))}") as (server, view):
        def setting():
            return server.get("/api/cameras/a")["settings"].get("ccltrack.regions")

        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        open_areas(view)
        view.evaluate(AREAS % "add-region" + ".click()")
        for place in (0.1, 0.1), (0.7, 0.1):
            press(view, "#areas-dialog", place)
        view.evaluate("document.querySelector('#areas-dialog [type=submit]').click()")
        view.wait(f"{AREAS % 'error'}.textContent == 'region \"region1\" has 2 points; three or more are needed'")
        press(view, "#areas-dialog", (0.7, 0.8))
        press(view, "#areas-dialog", (0.7, 0.8), (0.6, 0.9))
        rename(view, [["name", 'the "yard"'], ["limits", "stay=2  faster-than=30"]])
        view.evaluate(AREAS % "add-line" + ".click()")
        for place in (0.2, 0.5), (0.4, 0.5), (0.9, 0.5):  # a line has two points
            press(view, "#areas-dialog", place)
        shoot(view, "regions")
        save_areas(view)
        items = served.wait_for(lambda: len(found := (setting() or "").split("; ")) == 4 and found, "the setting")
        # The first item has a semicolon in its name, and pixels of frames of 160×120 before.
        tap.equal("; ".join(items[:2]), 'line "in; out" 10.00%,10.00% 50.00%,50.00%')
        assert items[2].startswith("region 'the \"yard\"' ") and items[2].endswith(" stay=2 faster-than=30"), items
        assert items[3].startswith("line line1 "), items
        for item, places in (items[2], [(10, 10), (70, 10), (60, 90)]), (items[3], [(20, 50), (40, 50)]):
            assert are_near(points_of(item), places), item

        open_areas(view)
        tap.equal(view.evaluate("[...document.querySelectorAll('#areas-dialog .name')].map(({ value }) => value)"),
                  ["in; out", 'the "yard"', "line1"])
        view.evaluate("""{ const row = document.querySelectorAll('#areas-dialog .shapes > div')[1];
            row.querySelector('.name').dispatchEvent(new Event('focusin', { bubbles: true }));
            document.querySelectorAll('#areas-dialog .handle')[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete' }));
            document.querySelectorAll('#areas-dialog .shapes > div')[1].querySelector('.delete').click(); }""")
        save_areas(view)
        served.wait_for(lambda: (text := setting()) and "yard" not in text and "line1" in text, "the setting without a region")
        tap.equal(server.get("/api/cameras/a")["reconnects"], 0)
        tap.equal(problems(view), [], "problems")


def touch(view, *places):
    """A finger goes down at the first place of the picture, moves to the others, and leaves it."""
    left, top, width, height = view.evaluate(BOX % "#areas-dialog .scene")
    points = [{"x": left + x * width, "y": top + y * height} for x, y in places]
    view.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=points[:1])
    for point in points[1:]:
        view.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[point])
    view.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def draws_by_touch():
    """on a phone, fingers set points, drag one, undo it and save; the page does not scroll meanwhile"""
    with page(f"a={served.video('touched', (20, True))}") as (server, view):
        view.size(390, 844, scale=2)
        view.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        open_areas(view)
        view.evaluate(AREAS % "add-region" + ".click()")
        for x, y in (0.1, 0.2), (0.8, 0.2), (0.5, 0.6):
            touch(view, (x, y), (x + 0.004, y))  # a finger trembles
        view.wait("document.querySelectorAll('#areas-dialog .handle').length == 3")
        where = view.evaluate("[scrollY, document.querySelector('#areas-dialog').scrollTop]")
        touch(view, (0.5, 0.6), (0.5, 0.7), (0.6, 0.8), (0.6, 0.9))
        touch(view, (0.8, 0.2), (0.8, 0.5), (0.9, 0.1))
        view.evaluate(AREAS % "undo" + ".click()")
        tap.equal(view.evaluate("[scrollY, document.querySelector('#areas-dialog').scrollTop]"), where, "scrolled")
        shoot(view, "areas-touch")
        save_areas(view)
        text = served.wait_for(lambda: server.get("/api/cameras/a")["settings"].get("ccltrack.regions"), "the setting")
        got = points_of(text)
        assert len(got) == 3 and all(abs(a - b) < 1.5 for p, q in zip(got, [(10, 20), (80, 20), (60, 90)]) for a, b in zip(p, q)), text
        tap.equal(problems(view), [], "problems")


# The share of the picture in the editor that is pink, as the foreground is.
PINK = """(() => { const image = document.querySelector('#areas-dialog img');
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
      n += data[i] > data[i + 1] + 60 && data[i] > data[i + 2] + 20;
    return 4 * n / data.length; })()"""


def draws_masks():
    """a mask is drawn with undo and holds without a restart; the view of what the model sees, sensitivity, two editors at once"""
    with page("--state", served.folder / "masks.conf", "--set", "ccl.min-area=20", f"a={served.video('masked', (20, True))}") as (server, view):
        def settings():
            return server.get("/api/cameras/a")["settings"]

        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        served.wait_for(lambda: server.get("/api/cameras/a")["components"] > 0, "a component", 20)
        open_areas(view)
        view.evaluate(AREAS % "foreground" + ".click()")
        view.wait(f"{PINK} > 0.02", 20)  # the square is 0.083 of the picture, and comes from outside
        assert view.evaluate(PINK) < 0.3, "more than the square is pink"
        view.evaluate(AREAS % "add-mask" + ".click()")
        for place in (0.0, 0.2), (0.999, 0.2), (0.999, 0.8), (0.5, 0.5), (0.0, 0.8):
            press(view, "#areas-dialog", place)
        view.evaluate(AREAS % "undo" + ".click()")  # the last point comes back
        press(view, "#areas-dialog", (0.0, 0.8))
        press(view, "#areas-dialog", (0.5, 0.5), (0.3, 0.4))
        view.evaluate(AREAS % "undo" + ".click()")  # and the place from which a point was dragged
        view.evaluate("document.querySelectorAll('#areas-dialog .handle')[3].focus()")
        view.evaluate(AREAS % "delete-point" + ".click()")
        press(view, "#areas-dialog", (0.5, 0.8))  # into an edge
        rename(view, [["name", "the street"]])
        shoot(view, "areas")
        view.size(390, 844, scale=2)
        tap.equal(view.evaluate("document.querySelector('#areas-dialog').scrollWidth <= 390"), True, "width on a phone")
        shoot(view, "areas-phone")
        save_areas(view)
        masks = settings()["ccl.masks"]
        assert masks.startswith('mask "the street" '), masks
        assert are_near(points_of(masks), [(0, 20), (100, 20), (100, 80), (50, 80), (0, 80)]), masks
        served.wait_for(lambda: server.get("/api/cameras/a")["components"] == 0, "no component")
        tap.equal(server.get("/api/cameras/a")["reconnects"], 0)
        open_areas(view)
        view.evaluate(AREAS % "foreground" + ".click()")
        view.wait(f"{PINK} < 0.001")
        view.evaluate(f"{{ const field = {AREAS % 'sensitivity'}; field.value = 150; field.dispatchEvent(new Event('change')); }}")
        served.wait_for(lambda: settings().get("ccl.sensitivity") == "150", "the sensitivity")
        server.request("/api/cameras/a", "PATCH", {"ccl.masks": "mask other 0,0 9,0 9,9"})  # another browser
        view.evaluate("document.querySelector('#areas-dialog [type=submit]').click()")
        view.wait(f"{AREAS % 'error'}.textContent.startsWith('somebody else has changed this camera')")
        tap.equal(settings()["ccl.masks"], "mask other 0,0 9,0 9,9")
        view.evaluate(AREAS % "cancel" + ".click()")
        tap.equal([problem for problem in problems(view) if "412" not in problem], [], "problems")


def arms_on_page(server, view):
    """The camera and one of its two regions are disarmed; both sizes fit."""
    button = f"{card('a')}.querySelector('.arm')"
    choose = """{ const choice = [...document.querySelectorAll('#arming-dialog select')][%d];
        choice.value = '%s'; choice.dispatchEvent(new Event('change')); }"""
    status = "[...document.querySelectorAll('#arming-dialog .status')].map(({ textContent }) => textContent)"
    tap.equal(view.evaluate(f"{button}.textContent"), "Armed")
    view.evaluate(f"{button}.click()")
    tap.equal(view.evaluate(status), ["armed"] * 3)
    view.evaluate(choose % (1, "disarmed"))
    view.wait(f"{status}.join() == 'armed,disarmed,armed'")
    view.wait(f"{button}.textContent == 'Armed in part'")
    view.evaluate(choose % (0, "pause 3600"))
    view.wait(f"{status}[0].startsWith('paused until')")
    shoot(view, "arming")
    view.wait(f"{button}.textContent == 'Disarmed'")
    tap.equal(server.get("/api/cameras/a")["armed"], False)
    view.size(390, 844, scale=2)
    tap.equal(view.evaluate("document.querySelector('#arming-dialog').scrollWidth <= 390"), True)
    shoot(view, "arming-phone")
    view.evaluate(choose % (0, "armed"))
    view.wait(f"{status}.join() == 'armed,disarmed,armed'")


def shows_traffic():
    """a card shows what passed regions and lines, with speeds and a file for spreadsheets"""
    regions = "line gate 80,0 80,120; region 'the \"yard\", left' 0,0 100,0 100,120 0,120"
    ground = "0,0 0,0; 160,0 10,0; 160,120 10,-7.5; 0,120 0,-7.5"
    with page("--set", f"ccltrack.regions={regions}", "--set", f"ccltrack.ground={ground}", "--set", "ccl.min-area=20",
              f"a={served.video('traffic', (10, True))}") as (server, view):
        row = f"[...{card('a')}.querySelectorAll('.traffic tbody tr')].map((row) => row.innerText.split('\\t'))"
        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        served.wait_for(lambda: len(server.request("/api/cameras/a/traffic.csv")[2].splitlines()) > 2, "no rows", 60)
        view.evaluate("document.querySelector('#window').dispatchEvent(new Event('change'))")
        view.wait(f"{row}.length == 2")
        rows = {cells[0].strip(): cells for cells in view.evaluate(row)}
        tap.equal(set(rows), {"gate", 'the "yard", left'})
        assert int(rows["gate"][2]) > 0 and rows["gate"][3].strip().endswith("km/h"), rows
        assert view.evaluate(f"{card('a')}.querySelector('.traffic path').getAttribute('d')").startswith("M")
        tap.equal(view.evaluate(f"fetch({card('a')}.querySelector('.traffic a').href).then((answer) => answer.status)"), 200)
        shoot(view, "traffic")
        arms_on_page(server, view)
        tap.equal(problems(view), [], "problems")


def asks_for_token():
    """a page without the token's cookie asks for the token; it signs out, and has no buttons of changes for a reader"""
    token_file = served.folder / "token"
    token_file.write_text(TOKEN)
    token_file.chmod(0o600)
    configuration = served.folder / "reader.conf"
    configuration.write_text(f"[ccl-watch]\nread-token={READ_TOKEN}\n")
    configuration.chmod(0o600)
    with page("--token-file", token_file, "-c", configuration, f"a={served.video('asked', (20, True))}") as (_, view):
        view.wait("document.querySelector('#login-dialog').open")
        shoot(view, "token")
        for token, done in ("wrong wrong wrong!", False), (TOKEN, True):
            view.evaluate(f"""{{
                document.querySelector('#login-dialog form').elements.token.value = '{token}';
                document.querySelector('#login-dialog [type=submit]').click(); }}""")
            if not done:
                view.wait("document.querySelector('#login-dialog .error').textContent")
        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        view.wait("document.querySelector('#add').offsetWidth && document.querySelector('#sign-out').offsetWidth")
        view.evaluate("document.querySelector('#sign-out').click()")
        view.wait("document.querySelector('#login-dialog')?.open")
        view.evaluate(f"""{{
            document.querySelector('#login-dialog form').elements.token.value = '{READ_TOKEN}';
            document.querySelector('#login-dialog [type=submit]').click(); }}""")
        view.wait(f"{card('a')}?.querySelector('img').naturalWidth > 100")
        view.wait("document.body.classList.contains('reader')")
        tap.equal(view.evaluate("[...document.querySelectorAll('#add, .edit, .remove, .arm, .areas')].some((e) => e.offsetWidth)"), False,
                  "buttons of changes")
        shoot(view, "reader")


def policy_holds():
    """the content security policy stops scripts that are not the program's"""
    with page() as (_, view):
        view.wait("!document.querySelector('#no-cameras').hidden")
        view.evaluate("""{ const script = document.createElement('script');
            script.textContent = 'window.injected = true'; document.body.append(script); }""")
        tap.equal(view.evaluate("window.injected === undefined"), True)
        view.evaluate("""document.body.insertAdjacentHTML('beforeend',
            '<img src=x onerror="window.injected = true">')""")
        tap.equal(view.evaluate("window.injected === undefined"), True)
        tap.equal(view.evaluate("fetch('http://127.0.0.1:9/').then(() => 1, () => 0)"), 0)
        assert any("Content Security Policy" in problem for problem in view.problems), view.problems


sys.exit(tap.run(shows_cameras, many_cameras, streams_video, streams_again, plays_clip, manages_cameras, sets_ground, draws_regions, draws_by_touch, draws_masks, shows_traffic, asks_for_token, policy_holds))
