"use strict";
// Places of figures in what the server sends: for each protocol, and for each subscriber after the first six.
const HANDLED = 0, FAILED = 1, LOST = 2, WAITING = 3;
const ASKED = 4, ANSWERED = 5, UNANSWERED = 6, LATE = 7, ABANDONED = 8, ANSWERING = 9;
const SLOW = 1000, RECENT = 10000, MINUTE = 60000, HOUR = 60 * MINUTE, FEW = 8, MANY = 300;
const byId = id => document.getElementById(id);
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
// Writes only what is new: what is the same costs no layout.
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const mark = (element, className) => { if (element.className !== className) element.className = className; };
const plain = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const compact = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 2});
const count = value => (value < 1e6 ? plain : compact).format(value);
const rate = value => value < 0.05 ? "0" : value < 9.95 ? value.toFixed(1) : count(value);
const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
// Names say their modules only if there are several.
const modules = new Set();
const moduleOf = name => name.match(/^\w+(?=\.)/)?.[0] ?? "";
const shortened = name => modules.size > 1 ? name : name.slice(moduleOf(name).length).replace(/^\./, "");
const length = milliseconds => {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${Math.round(milliseconds)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60 % 60)} min`;
};

// MARK: What is known

const texts = new Map();       // of subscribers, by key
const rows = new Map();        // subscribers, by key
const groups = new Map();      // protocols of a hub
const choices = new Map();     // what is unfolded, by the names of hub and protocol: outlasts a connection
const incidents = new Map();   // lines, by their numbers: the last one, and how many there have been
let incidentCount = 0;
let left = 0;
let troubles = [];             // what the program itself says is wrong
let time = 0;
let beginning;                 // when the first figures came: what is as old may be older
let minute = [];               // the histograms of the last minute
let past = [];                 // the sums of the last minute, for the tiles
let hour = [];                 // the same of the last hour, one of ten seconds

function forget() {
  for (const row of rows.values()) removeRow(row);
  for (const group of groups.values()) group.body?.remove();
  for (const map of [texts, rows, groups, hubs, modules, incidents]) map.clear();
  for (const name of ["picture", "incidents", "wrong"]) byId(name).replaceChildren();
  [minute, past, hour, time, beginning] = [[], [], [], 0, undefined];
}

/** Takes new figures of something; rates are averages of about the last two seconds. */
function advance(thing, figures, now) {
  const seconds = (now - thing.time) / 1000;
  if (thing.figures && seconds > 0) {
    const past = index => Math.max(0, (figures[index] ?? 0) - (thing.figures[index] ?? 0));
    const weight = 1 - Math.exp(-seconds / 1.2);
    const smooth = (former, change) => former + (change / seconds - former) * weight;
    thing.told = smooth(thing.told, past(HANDLED) + past(FAILED));
    thing.asked = smooth(thing.asked, past(ASKED));
    thing.lost = smooth(thing.lost, past(LOST));
    thing.failed = smooth(thing.failed, past(FAILED) + past(UNANSWERED));
    thing.late = smooth(thing.late, past(LATE));
    if (past(LOST)) thing.lostAt = now;
    if (past(FAILED) + past(UNANSWERED)) thing.failedAt = now;
    if (past(LATE)) thing.lateAt = now;
    // Not by those that were late: their handlers may still run.
    thing.isStill = past(HANDLED) + past(FAILED) + past(ANSWERED) + past(UNANSWERED) + past(ABANDONED) === 0;
  }
  thing.figures = figures;
  thing.time = now;
  thing.isPresent = true;
}

const fresh = () => ({told: 0, asked: 0, lost: 0, failed: 0, late: 0,
  lostAt: -Infinity, failedAt: -Infinity, lateAt: -Infinity, time: 0});

/** What is wrong with a subscriber, in words, the worst first; and what its cell looks like. */
function judge(row) {
  const isRecent = instant => time - instant < RECENT;
  const words = [];
  let look = "";
  const add = (word, itsLook) => { words.push(word); look ||= itsLook; };
  // Whether those who ask wait for it, or only what waits for itself.
  row.holdsUp = !row.hasEnded && (row.figures[ANSWERING] > 0 || isRecent(row.lateAt));
  if (row.hasEnded) add("removed, but still runs", "slow");
  else if (row.age >= SLOW) add(row.holdsUp ? "slow to answer" : "slow", isRecent(row.lostAt) ? "full" : "slow");
  if (isRecent(row.lostAt)) add("losing", "full");
  if (isRecent(row.failedAt)) add("failing", "bad");
  if (isRecent(row.lateAt)) add("late", "bad");
  const waiting = row.figures[WAITING];
  row.behindSince = waiting > Math.max(1, row.told) ? Math.min(row.behindSince ?? time, time) : undefined;
  if (time - row.behindSince >= SLOW && row.age < SLOW) add("behind", "queue");
  row.words = words.join(", ");
  row.rank = words.length === 0 ? 0 : row.holdsUp ? 3 : row.age >= SLOW ? 2 : 1;
  row.troubledSince = row.rank ? Math.min(row.troubledSince ?? time, time - Math.min(time, row.age)) : undefined;
  if (look && look !== "queue") row.look = look;
  else if (waiting > 1) row.look = "queue";
  else row.look = row.told + row.asked >= 0.05 || row.running ? "busy" : "";
  row.level = row.look === "queue" ? Math.min(4, Math.ceil(Math.log10(waiting + 1))) : 0;
}

function takeFigures(sample) {
  const now = sample.time;
  for (const thing of [...rows.values(), ...groups.values()]) thing.isPresent = false;
  incidentCount = sample.incidents;
  left = sample.left;
  troubles = sample.troubles;
  for (const hub of sample.hubs) {
    for (const part of hub.protocols) {
      const key = `${hub.key} ${part.name}`;
      const group = groups.get(key) ?? Object.assign(fresh(), {key, hub: hub.key, hubName: hub.name, name: part.name});
      groups.set(key, group);
      modules.add(moduleOf(part.name));
      if (!group.choice) {
        const names = `${hub.name} ${part.name}`;
        group.choice = choices.get(names) ?? {};
        choices.set(names, group.choice);
      }
      advance(group, part.sums, now);
      group.size = part.size;
      group.limit = part.limit;
      group.nobodySince = part.size > part.ended || !part.sums[ASKED] ? undefined : group.nobodySince ?? now;
      group.rows = part.rows.map(([key, isActive, running, timed, age, most, ...figures]) => {
        const row = rows.get(key) ?? Object.assign(fresh(), {key});
        rows.set(key, row);
        row.running = running;
        row.hasEnded = !isActive;
        row.most = most;
        row.limit = part.limit;
        advance(row, figures, now);
        // What has not been timed runs for as long at least as nothing has come to an end.
        if (running <= timed) row.since = undefined;
        else if (row.since === undefined || !row.isStill) row.since = now;
        row.isAtLeast = now - row.since > age;
        row.age = !running ? 0 : row.isAtLeast ? now - row.since : age;
        return row;
      });
    }
  }
  time = now;
  beginning ??= now;
  for (const row of rows.values()) if (row.isPresent) judge(row);
  for (const [key, row] of rows) if (!row.isPresent) { removeRow(row); rows.delete(key); texts.delete(key); }
  for (const [key, group] of groups) if (!group.isPresent) { group.body?.remove(); groups.delete(key); }
  for (const group of groups.values()) {
    group.running = group.rows.reduce((sum, row) => sum + row.running, 0);
    group.age = Math.max(0, ...group.rows.map(row => row.age));
    group.isAtLeast = group.rows.some(row => row.isAtLeast && row.age === group.age);
    group.troubled = group.rows.filter(row => row.rank > 0).length;
    // Those in trouble first, then as they are served; so rows move only when something has changed for one.
    group.rows.sort((a, b) => b.rank - a.rank);
  }
  minute.push({time, times: new Map(sample.times.map(one => [one.name, one]))});
  while (minute[0].time < time - MINUTE) minute.shift();
}

// MARK: Tiles

const TILES = [
  ["Notified", all => [rate(all.told), "/s"], all => all.told],
  ["Asked", all => [rate(all.asked), "/s"], all => all.asked],
  ["Waiting", all => [count(all.waiting), ""], all => all.waiting],
  ["Running", all => [count(all.running), all.running ? ` for ${length(all.age)}` : ""], all => all.running],
  ["Lost", all => [rate(all.lostRate), `/s, ${count(all.lost)} in all`], all => all.lost, "lostAt"],
  ["Failed", all => [rate(all.failedRate), `/s, ${count(all.failed)} in all`], all => all.failed, "failedAt"],
  ["Late", all => [rate(all.lateRate), `/s, ${count(all.late)} in all`], all => all.late, "lateAt"],
];
for (const tile of TILES) {
  const [box, title, value, extra] = [make("div"), make("dt", "", tile[0]), make("dd"), make("small")];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS(svg.namespaceURI, "polyline");
  for (const [name, to] of [["viewBox", "0 0 120 22"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) {
    svg.setAttribute(name, to);
  }
  svg.append(line);
  const number = make("span", "", "–");
  value.append(number, extra);
  box.append(title, value, svg);
  byId("tiles").append(box);
  Object.assign(tile, {box, number, extra, line});
}

function showTiles() {
  const all = {told: 0, asked: 0, waiting: 0, running: 0, age: 0, lost: 0, failed: 0, late: 0,
    lostRate: 0, failedRate: 0, lateRate: 0};
  const last = {lostAt: -Infinity, failedAt: -Infinity, lateAt: -Infinity};
  for (const group of groups.values()) {
    for (const name of ["told", "asked", "running"]) all[name] += group[name];
    all.age = Math.max(all.age, group.age);
    all.waiting += group.figures[WAITING];
    all.lost += group.figures[LOST];
    for (const name of ["lost", "failed", "late"]) all[`${name}Rate`] += group[name];
    all.failed += group.figures[FAILED] + group.figures[UNANSWERED];
    all.late += group.figures[LATE];
    for (const name in last) last[name] = Math.max(last[name], group[name]);
  }
  past.push({time, all});
  while (past[0].time < time - MINUTE) past.shift();
  // One of ten seconds, so that an hour takes as much as the server keeps.
  if (time - (hour.at(-1)?.time ?? -Infinity) >= 10000) hour.push({time, all});
  while (hour[0].time < time - HOUR) hour.shift();
  const drawn = byId("hour").checked ? hour : past;
  for (const tile of TILES) {
    const [, text, value, instant] = tile;
    const [number, extra] = text(all);
    write(tile.number, number);
    write(tile.extra, extra);
    const isTroubled = instant ? time - last[instant] < RECENT : tile[0] === "Running" && all.age >= SLOW;
    mark(tile.box, isTroubled ? "trouble" : "");
    // What only grows is drawn from where it was a minute ago.
    const base = instant ? value(drawn[0].all) : 0;
    const values = drawn.map(one => value(one.all) - base);
    const top = Math.max(1, ...values);
    // From the left, as long as it is less than a minute: a line in a corner says nothing.
    const [start, span] = [drawn[0].time, Math.max(RECENT, time - drawn[0].time)];
    tile.line.setAttribute("points", drawn.map((one, index) =>
      `${((one.time - start) / span * 120).toFixed(1)},${(21 - values[index] / top * 20).toFixed(1)}`).join(" "));
  }
}

// MARK: Picture

const hubs = new Map();        // boxes in the picture, by the hubs' keys

function showPicture() {
  const present = new Set();
  for (const group of groups.values()) {
    if (!group.size) { group.picture?.box.remove(); group.picture = undefined; continue; }
    let hub = hubs.get(group.hub);
    if (!hub) {
      hub = make("div", "hub");
      hub.append(make("h3", "", group.hubName));
      hubs.set(group.hub, hub);
      byId("picture").append(hub);
    }
    present.add(group.hub);
    if (!group.picture) {
      const [box, label, cells] = [make("div"), make("p"), make("div", "cells")];
      cells.setAttribute("role", "img");
      box.append(label, cells);
      hub.append(box);
      group.picture = {box, label, cells};
    }
    const troubled = group.troubled ? `, ${count(group.troubled)} in trouble` : "";
    write(group.picture.label, `${shortened(group.name)} · ${count(group.size)}${troubled}`);
    mark(group.picture.box, group.size > 40 ? "many" : "");
    const label = `${plural(group.size, "subscriber")}${troubled}`;
    if (group.picture.cells.ariaLabel !== label) group.picture.cells.ariaLabel = label;
    for (const row of group.rows) {
      if (!row.cell) {
        row.cell = make("i", "cell");
        row.cell.dataset.key = row.key;
        group.picture.cells.append(row.cell);
      }
      mark(row.cell, row.look ? `cell ${row.look}` : "cell");
      if (row.level !== row.shownLevel) row.cell.dataset.level = row.shownLevel = row.level;
      const title = texts.get(row.key)?.[0] ?? "";
      if (row.cell.title !== title) row.cell.title = title;
    }
  }
  for (const [key, hub] of hubs) if (!present.has(key)) { hub.remove(); hubs.delete(key); }
}

byId("picture").addEventListener("click", event => {
  const row = rows.get(Number(event.target.dataset?.key));
  if (!row) return;
  byId("filter").value = "";
  byId("troubled").checked = false;
  const group = [...groups.values()].find(group => group.rows.includes(row));
  group.choice.isOpen = group.choice.isWhole = true;
  showTable();
  row.line?.scrollIntoView({block: "center"});
  row.line?.classList.add("found");
  setTimeout(() => row.line?.classList.remove("found"), 2000);
});

// MARK: Table

// 99 % of handlers; below zero if the one at that place still runs.
const most = one => !one.most ? "" : (one.most < 0 ? "≥ " : "≤ ")
  + (Math.abs(one.most) < 1000 ? `${Math.abs(one.most)} µs` : length(Math.abs(one.most) / 1000));
const COLUMNS = [
  ["Trouble", one => one.words ?? (one.nobodySince ? "nobody" : one.troubled ? `${count(one.troubled)} in trouble` : "")],
  ["Told/s", one => rate(one.told)],
  ["Asked/s", one => rate(one.asked)],
  ["Waiting", one => count(one.figures[WAITING]) + (one.limit && !one.size && one.figures[WAITING] ? ` of ${count(one.limit)}` : "")],
  ["99 %", most],
  ["Running", one => count(one.running)],
  ["For", one => one.running ? (one.isAtLeast ? "≥ " : "") + length(one.age) : ""],
  ["Lost", one => count(one.figures[LOST])],
  ["Failed", one => count(one.figures[FAILED] + one.figures[UNANSWERED])],
  ["Late", one => count(one.figures[LATE])],
];
const role = (element, name) => { element.setAttribute("role", name); return element; };
const head = byId("table").tHead.rows[0];
for (const name of ["Subscriber", ...COLUMNS.map(column => column[0])]) {
  const cell = role(make("th", "", name), "columnheader");
  cell.scope = "col";
  head.append(cell);
}

function makeLine(className) {
  const line = role(make("tr", className), "row");
  const name = role(make("th"), "rowheader");
  name.scope = "row";
  line.append(name);
  line.figures = COLUMNS.map(([label]) => {
    const cell = role(make("td"), "cell");
    if (label !== "Trouble") cell.dataset.label = label;
    line.append(cell);
    return cell;
  });
  return line;
}

function fill(line, one) {
  COLUMNS.forEach(([label, text], index) => {
    const cell = line.figures[index], value = text(one);
    write(cell, value);
    const isSlow = label === "For" && one.age >= SLOW;
    mark(cell, (label === "Trouble" && value) || isSlow ? "what" : value === "0" ? "zero" : "");
  });
}

function removeRow(row) {
  row.cell?.remove();
  row.line?.remove();
  row.cell = row.line = undefined;
}

function lineOf(row) {
  if (!row.line) {
    row.line = makeLine("row");
    row.name = make("span");
    row.site = make("span", "site");
    row.line.firstChild.append(row.name, " ", row.site);
  }
  const [name, site] = texts.get(row.key) ?? ["", ""];
  write(row.name, shortened(name));
  write(row.site, site);
  const isFound = row.line.classList.contains("found");
  mark(row.line, `row${row.rank ? " trouble" : ""}${isFound ? " found" : ""}`);
  fill(row.line, row);
  return row.line;
}

function bodyOf(group) {
  if (group.body) return group.body;
  group.body = role(make("tbody"), "rowgroup");
  group.line = makeLine("group");
  group.button = make("button");
  group.button.type = "button";
  group.note = make("small");
  group.button.addEventListener("click", () => { group.choice.isOpen = !group.isOpen; showTable(); });
  group.line.firstChild.append(group.button, " ", group.note);
  group.more = role(make("tr", "more"), "row");
  const cell = role(make("td"), "cell");
  cell.colSpan = COLUMNS.length + 1;
  group.moreButton = make("button");
  group.moreButton.type = "button";
  group.moreButton.addEventListener("click", () => { group.choice.isWhole = !group.choice.isWhole; showTable(); });
  cell.append(group.moreButton);
  group.more.append(cell);
  group.body.append(group.line, group.more);
  return group.body;
}

/** Has these children in this order, and moves nothing that is in its place. */
function arrange(parent, first, children) {
  let place = first;
  for (const child of children) {
    if (child === place) place = place.nextSibling;
    else parent.insertBefore(child, place);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function showTable() {
  const words = byId("filter").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const isTroubledOnly = byId("troubled").checked;
  const focused = document.activeElement;
  const shown = [...groups.values()].filter(group => group.size || group.figures[WAITING] || group.nobodySince);
  const isFolded = shown.length > 12;
  const bodies = [];
  for (const group of shown.sort((a, b) => Math.sign(b.troubled) - Math.sign(a.troubled))) {
    let found = isTroubledOnly ? group.rows.filter(row => row.rank) : group.rows;
    if (words.length) {
      found = found.filter(row => {
        const text = [group.hubName, group.name, row.words, ...(texts.get(row.key) ?? [])].join(" ").toLowerCase();
        return words.every(word => text.includes(word));
      });
    }
    const isNarrowed = words.length > 0 || isTroubledOnly;
    if (isNarrowed && !found.length && !(isTroubledOnly && !words.length && group.nobodySince)) continue;
    const body = bodyOf(group);
    const isOpen = group.isOpen = group.choice.isOpen ?? (isNarrowed || !isFolded || group.troubled > 0);
    const isWhole = group.choice.isWhole;
    group.button.setAttribute("aria-expanded", String(isOpen));
    write(group.button, shortened(group.name));
    write(group.note, `${group.hubName}, ${plural(group.size, "subscriber")}`);
    fill(group.line, group);
    const most = isWhole ? found.length : isNarrowed ? MANY : FEW;
    const lines = isOpen ? found.slice(0, most).map(lineOf) : [];
    const hasMore = isOpen && (found.length > most || (isWhole && found.length > FEW));
    if (hasMore) write(group.moreButton, isWhole ? "Show fewer" : `Show all ${count(found.length)}`);
    arrange(body, body.firstChild.nextSibling, hasMore ? [...lines, group.more] : lines);
    bodies.push(body);
  }
  arrange(byId("table"), byId("table").tHead.nextSibling, bodies);
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({preventScroll: true});
  byId("table").hidden = !bodies.length;
  byId("nobody").hidden = bodies.length > 0;
  write(byId("nobody"), shown.length ? "Nobody matches." : "Nobody is subscribed.");
  byId("left").hidden = !left;
  write(byId("left"), `${count(left)} more subscribers are in the sums only: the others have more trouble.`);
}

// MARK: Times

const CHARTS = [["durations", "Handlers took", "handler"], ["waits", "Notifications had waited", "notification"]];
const LIMITS = Array.from({length: 28}, (_, index) => 0.001 * 2 ** index);   // ends of buckets, in milliseconds
const limit = index => LIMITS[index] < 1 ? `${Math.round(LIMITS[index] * 1000)} µs` : length(LIMITS[index]);
for (const chart of CHARTS) {
  const [box, text, bars, scale] = [make("div"), make("p"), make("div", "bars"), make("div", "scale")];
  bars.setAttribute("role", "img");
  scale.setAttribute("aria-hidden", "true");
  LIMITS.forEach((end, index) => {
    // A bucket begins at half of its end.
    bars.append(make("i", end > 2 * SLOW ? "long" : ""));
    scale.append(make("span", "", {1: "1 µs", 11: "1 ms", 21: "1 s"}[index] ?? ""));
  });
  box.append(make("h3", "", chart[1]), text, bars, scale);
  byId("times").append(box);
  Object.assign(chart, {box, text, bars});
}

function showTimes() {
  const select = byId("protocol");
  const newest = minute.at(-1)?.times ?? new Map();
  const names = ["All", ...newest.keys()];
  if (names.join() !== [...select.options].map(option => option.value).join()) {
    const former = select.value;
    select.replaceChildren(...names.map(name => new Option(name)));
    select.value = names.includes(former) ? former : "All";
  }
  byId("times").parentElement.hidden = !newest.size;
  const chosen = select.value === "All" ? [...newest.keys()] : [select.value];
  const those = [...groups.values()].filter(group => select.value === "All" || group.name === select.value);
  const running = those.reduce((sum, group) => sum + group.running, 0);
  const age = Math.max(0, ...those.map(group => group.age));
  for (const chart of CHARTS) {
    const counts = LIMITS.map((_, index) => chosen.reduce((sum, name) =>
      sum + (newest.get(name)?.[chart[0]][index] ?? 0) - (minute[0].times.get(name)?.[chart[0]][index] ?? 0), 0));
    const total = counts.reduce((sum, value) => sum + value, 0);
    const quantile = part => {
      let sum = 0;
      return counts.findIndex(value => (sum += value) >= total * part && sum > 0);
    };
    const last = counts.findLastIndex(value => value > 0);
    const text = total
      ? `${plural(total, chart[2])}: half within ${limit(quantile(0.5))}, 99 % within ${limit(quantile(0.99))}, `
        + (last === 27 ? `some over ${limit(26)}` : `all that ended within ${limit(last)}`)
        + (chart[0] === "durations" && running ? `; ${count(running)} still run, for ${length(age)} so far` : "")
      : "none";
    write(chart.text, text);
    if (chart.bars.ariaLabel !== text) chart.bars.ariaLabel = text;
    const top = Math.max(1, ...counts);
    counts.forEach((value, index) => {
      // The root, so that a few beside very many can be seen.
      chart.bars.children[index].style.height = value ? `${Math.max(2, Math.sqrt(value / top) * 72)}px` : "0";
    });
  }
}
byId("protocol").addEventListener("change", showTimes);

// MARK: Incidents

const same = (...words) => words.join("\n");
const clock = at => new Date(at).toLocaleTimeString("en", {hour12: false});

function takeIncident(news) {
  const line = incidents.get(news.number)?.line;
  // The latest last.
  incidents.delete(news.number);
  if (incidents.size > 600) {
    const [oldest] = incidents.keys();
    incidents.get(oldest).line?.remove();
    incidents.delete(oldest);
  }
  incidents.set(news.number, {news, first: Date.now() - news.since, last: Date.now() - news.age, isNew: true, line});
}

/** What happened and to whom, as nodes. */
function told(incident) {
  const {news, first, last} = incident;
  const lasted = news.duration < 0 ? "" : ` after ${length(news.duration)}`;
  const details = [news.error, news.dropped ? `${plural(news.dropped, "notification")} dropped` : ""].filter(Boolean);
  const times = news.count > 1 ? ` ${count(news.count)} times since ${clock(first)}` : "";
  const who = news.several ? `${shortened(news.subscriber)} and others of its line` : shortened(news.subscriber);
  const at = make("time", "", clock(last));
  at.dateTime = new Date(last).toISOString();
  return [at, " ", make("b", "", news.kind), times,
    `${lasted} in ${news.call} of ${shortened(news.protocol)}: ${who}${details.length ? `: ${details.join("; ")} ` : " "}`,
    make("span", "site", news.site)];
}

function showIncidents() {
  write(byId("incident-count"), incidentCount ? `${plural(incidentCount, "incident")} since the start.` : "None so far.");
  for (const incident of incidents.values()) {
    if (!incident.isNew) continue;
    incident.isNew = false;
    incident.line ??= make("li");
    incident.line.replaceChildren(...told(incident));
    byId("incidents").prepend(incident.line);
  }
}

// MARK: What is wrong

/** The worst first: who, what, since when, for whom, and why. */
function showWrong() {
  const latest = new Map();
  for (const incident of incidents.values()) {
    const {news} = incident;
    latest.set(same(news.protocol, news.subscriber, news.site), incident);
  }
  const items = troubles.map(({who, what, age}) =>
    ({rank: 5, since: time - age, isKnown: true, who, what, site: "", why: "The program says so itself."}));
  for (const group of groups.values()) {
    const place = `${shortened(group.name)}, ${group.hubName}`;
    if (group.nobodySince) {
      // One that nobody has ever answered may be there for extensions that are not wanted.
      const isLeft = group.figures[ANSWERED] > 0;
      items.push({rank: isLeft ? 4 : 0.5, since: group.nobodySince, isKnown: group.nobodySince > beginning, who: place, what: "nobody is subscribed", site: "",
        why: `While somebody was there, it was asked ${plural(group.figures[ASKED], "time")}${isLeft ? "" : ", and nobody has answered so far"}. `
          + "A question is decided without anybody now: see what that means for it."});
    }
    for (const row of group.rows) {
      if (!row.rank) continue;
      const [name, site] = texts.get(row.key) ?? ["", ""];
      const incident = latest.get(same(group.name, name, site));
      // Those that came one soon after another are one trouble, which the server has seen from its start.
      const gap = incident?.news.count > 1 ? (incident.last - incident.first) / (incident.news.count - 1) : Infinity;
      const first = gap < RECENT ? time - (Date.now() - incident.first) : Infinity;
      const since = Math.min(row.troubledSince, first);
      // What this tab saw at once may have begun before, unless a handler was timed all along.
      const isKnown = first <= row.troubledSince || (row.troubledSince > beginning + RECENT)
        || (row.age >= SLOW && !row.isAtLeast && row.troubledSince < beginning);
      const waiting = row.figures[WAITING];
      const full = waiting ? `${count(waiting)}${row.limit ? ` of ${count(row.limit)}` : ""} wait for it` : "";
      const rates = [["lost", row.lost], ["failed", row.failed], ["late", row.late]]
        .filter(([, value]) => value >= 0.05).map(([word, value]) => `${rate(value)} ${word}/s`);
      const running = row.age >= SLOW ? `${plural(row.running, "handler")} running for ${row.isAtLeast ? "≥ " : ""}${length(row.age)}` : "";
      items.push({rank: row.rank, since, isKnown, who: shortened(name), what: row.words, site,
        why: [place, row.holdsUp ? "those who ask wait for it" : "holds up nobody else", full, running, ...rates,
          incident ? `last: ${[incident.news.kind, incident.news.error].filter(Boolean).join(", ")} at ${clock(incident.last)}` : "",
          incident?.news.count > 1 ? `the first of ${count(incident.news.count)} at ${clock(incident.first)}` : ""]
          .filter(Boolean).join(" · ")});
    }
  }
  items.sort((a, b) => b.rank - a.rank || a.since - b.since);
  const list = byId("wrong"), shown = items.slice(0, 12);
  shown.forEach((item, index) => {
    let line = list.children[index];
    if (!line) {
      line = make("li");
      line.parts = [make("b"), make("span", "what"), make("time"), make("span", "note"), make("span", "note")];
      const title = make("span");
      title.append(line.parts[0], " ", line.parts[1]);
      line.append(title, ...line.parts.slice(2));
      list.append(line);
    }
    mark(line, item.rank > 2 ? "worst" : "");
    const words = [item.who, item.what, `for ${item.isKnown ? "" : "≥ "}${length(time - item.since)}`, item.why, item.site];
    words.forEach((word, place) => write(line.parts[place], word));
  });
  while (list.children.length > shown.length) list.lastChild.remove();
  byId("fine").hidden = items.length > 0 && items.length <= 12;
  write(byId("fine"), items.length ? `and ${plural(items.length - 12, "more subscriber")} below` : "Nothing, as far as hubs can tell.");
}

// MARK: The connection

let source, retry, lastNews = 0, isPaused = false, isNew = false;

function setState(state, text) {
  byId("state").dataset.state = state;
  write(byId("state"), text);
  document.body.classList.toggle("stale", state !== "live");
}

function show() {
  const troubled = [...groups.values()].reduce((sum, group) => sum + group.troubled, 0);
  const size = [...groups.values()].reduce((sum, group) => sum + group.size, 0);
  write(byId("summary"), troubled ? `${count(troubled)} of ${plural(size, "subscriber")} in trouble` : plural(size, "subscriber"));
  mark(byId("summary"), troubled ? "trouble" : "");
  const nobody = [...groups.values()].filter(group => group.nobodySince && group.figures[ANSWERED]).length;
  const wrong = troubled + nobody + troubles.length;
  document.title = wrong ? `(${wrong}) Hubs` : "Hubs";
  showWrong();
  showTiles();
  showPicture();
  showTable();
  showTimes();
  showIncidents();
}

function connect() {
  clearTimeout(retry);
  source?.close();
  if (isPaused || document.hidden) return;
  source = new EventSource("events");
  source.addEventListener("open", () => { isNew = true; });
  source.addEventListener("error", () => {
    lose();
    // The browser tries again by itself, but not after an answer that is no stream.
    if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, 2000);
  });
  source.addEventListener("texts", event => {
    // Another connection may be to another process. What it had shows until there is something new to show.
    if (isNew) forget();
    isNew = false;
    const news = JSON.parse(event.data);
    for (const [key, ...words] of news.subscribers) {
      texts.set(key, words);
      modules.add(moduleOf(words[0]));
    }
    if (news.all) hour = [];
    for (const [time, told, asked, waiting, running, lost, failed, late] of news.history ?? []) {
      hour.push({time, all: {told: 0, asked: 0, waiting, running, lost, failed, late, sums: {told, asked}}});
    }
    hour.forEach(({time, all}, index) => {
      const before = hour[index - 1];
      if (!before?.all.sums || !all.sums) return;
      for (const name of ["told", "asked"]) {
        all[name] = Math.max(0, all.sums[name] - before.all.sums[name]) / Math.max(1, (time - before.time) / 1000);
      }
    });
    news.incidents.forEach(takeIncident);
  });
  source.addEventListener("replaced", () => {
    pause(true);
    setState("paused", "Another viewer has taken this place");
  });
  source.addEventListener("figures", event => {
    lastNews = performance.now();
    setState("live", "Live");
    takeFigures(JSON.parse(event.data));
    show();
  });
}

function lose() {
  if (isPaused || byId("state").dataset.state === "lost") return;
  setState("lost", `Disconnected at ${new Date().toLocaleTimeString("en", {hour12: false})}, trying again`);
}

function pause(isWanted) {
  isPaused = isWanted;
  byId("pause").setAttribute("aria-pressed", String(isPaused));
  if (isPaused) {
    source?.close();
    clearTimeout(retry);
    setState("paused", "Paused");
  } else {
    setState("connecting", "Connecting");
    connect();
  }
}
byId("pause").addEventListener("click", () => pause(!isPaused));
// A page in the background does not look either.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) source?.close();
  connect();
});
setInterval(() => {
  const silence = performance.now() - lastNews;
  if (byId("state").dataset.state === "live" && silence > 5000) {
    setState("lost", "No news for 5 seconds: the program has stopped, or is too busy");
  }
  if (byId("state").dataset.state === "lost" && silence > 15000) {
    lastNews = performance.now();
    connect();
  }
}, 1000);
byId("controls").addEventListener("submit", event => event.preventDefault());
// A link has what is looked for.
const kept = {filter: "value", troubled: "checked", hour: "checked"};
function follow() {
  const link = new URLSearchParams(location.hash.slice(1));
  for (const [id, key] of Object.entries(kept)) byId(id)[key] = key === "value" ? link.get(id) ?? "" : link.has(id);
}
function keep() {
  const link = new URLSearchParams();
  for (const [id, key] of Object.entries(kept)) if (byId(id)[key]) link.set(id, key === "value" ? byId(id).value : "1");
  window.history.replaceState(null, "", link.size ? `#${link}` : location.pathname);
}
follow();
window.addEventListener("hashchange", () => { follow(); if (time) show(); });
for (const id of Object.keys(kept)) byId(id).addEventListener("input", () => { keep(); if (time) { showTable(); showTiles(); } });
connect();
