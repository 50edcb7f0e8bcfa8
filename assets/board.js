// Makes the pages livelier. Without this script all of them still work, except for charts and live updates.
"use strict";

const REFRESH_MS = 3000; // how often an open page looks for a new version
const TYPING_MS = 60; // pause after which typed words are searched for
const FILTERS = ["weights", "commercial", "size", "memory", "language_model", "vision_encoder", "thinking", "verified", "reproduced"];
const isStatic = "static" in document.body.dataset; // whether the pages are files
let latest = 0; // number of the newest request, so that an older answer that arrives late is dropped

// Replace the parts of the page that are marked by data-swap by those of another page.
function swap(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement, sort = focused?.dataset.sort, isMore = focused?.matches(".hn-more");
  const rows = document.querySelectorAll("#rows tbody tr").length;
  for (const old of document.querySelectorAll("[data-swap]")) {
    const next = fresh.getElementById(old.id);
    if (!next || next.outerHTML === old.outerHTML) continue;
    const opened = new Set([...old.querySelectorAll("details[open]")].map(details => details.id));
    old.replaceWith(next);
    for (const details of next.querySelectorAll("details")) details.open ||= opened.has(details.id) && details.id !== "";
  }
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const next = fresh.getElementById(chart.id);
    if (!next) continue;
    chart.closest("figure").hidden = next.closest("figure").hidden;
    if (next.dataset.chart !== chart.dataset.chart) {
      chart.dataset.chart = next.dataset.chart;
      if (chart.dataset.drawn && !chart.closest("figure").hidden) draw(chart);
    }
  }
  if (sort) document.querySelector(`a[data-sort="${sort}"]`)?.focus();
  if (isMore) document.querySelectorAll("#rows tbody tr")[rows]?.querySelector("a")?.focus();
  document.body.dataset.version = fresh.body.dataset.version;
  document.title = fresh.title;
}

// Korean syllables as letters, with final consonants as initial ones, so that partly typed words are found.
// leaderboard/data/hangul.py does the same for the words that rows are searched in.
const FINALS = "ㄱ ㄲ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ ㅅ ㅆ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ".normalize("NFKD").split(" ");
function toJamo(text) {
  return text.toLowerCase().normalize("NFKD").replace(/[\u11a8-\u11c2]/g, final => FINALS[final.charCodeAt(0) - 0x11a8]);
}

function isFound(row, word) {
  const [, field, rest] = /^(?:(org|license|hardware):)?(.*)$/s.exec(word);
  return (row.dataset[field ?? "words"] ?? "").includes(toJamo(rest));
}

// Hide all rows but the first one that is shown of each family.
function keepBestOfFamilies(rows) {
  const seen = new Set();
  for (const row of rows.filter(row => !row.hidden)) {
    row.hidden = seen.has(row.dataset.family);
    seen.add(row.dataset.family);
  }
}

// Pages that are files have no server to search and sort: show only the rows that fit the form.
let everyRow; // the whole table, which is loaded when it is needed
async function filterRows() {
  const place = document.querySelector("#rows"), form = document.querySelector("form[data-query]");
  if (place?.dataset.all) {
    try {
      everyRow ??= fetch(place.dataset.all).then(answer => answer.text());
      const all = new DOMParser().parseFromString(await everyRow, "text/html");
      place.querySelector("tbody").replaceWith(all.querySelector("tbody"));
    } catch { // a page that was opened as a local file cannot load others
      everyRow = undefined;
      return warn();
    }
    delete place.dataset.all;
    place.querySelector(".hn-more")?.remove();
  }
  const body = place?.querySelector("tbody"), fields = new FormData(form);
  const words = String(fields.get("q") ?? "").toLowerCase().split(/\s+/);
  const every = body ? [...body.rows] : [...document.querySelectorAll(".hn-offered li")];
  every.forEach((row, number) => { row.dataset.place ??= number; });
  every.sort((a, b) => a.dataset.place - b.dataset.place);
  const rows = every.filter(row => !row.matches(".hn-kind"));
  for (const row of rows) {
    const found = words.every(word => isFound(row, word));
    const fits = FILTERS.every(name => {
      const chosen = fields.getAll(name), own = (row.dataset[name] ?? "").split(",");
      return !chosen.length || chosen.some(one => own.includes(one));
    });
    row.hidden = !(found && fits);
  }
  if (fields.has("family")) keepBestOfFamilies(rows);
  for (const head of every.filter(row => row.matches(".hn-kind"))) {
    const n = rows.filter(row => !row.hidden && row.dataset.kind === head.dataset.kind).length;
    head.hidden = n === 0;
    head.querySelector("span").textContent = head.dataset.title.replace("{n}", n);
  }
  const status = document.querySelector("[data-found]");
  if (status) status.textContent = status.dataset.found.replace("{n}", rows.filter(row => !row.hidden).length);
  announce();
  const none = document.querySelector("#none");
  if (none) none.hidden = rows.some(row => !row.hidden);
  if (!body) return;
  const sort = fields.get("sort"), heads = [...place.querySelectorAll("thead th")];
  const column = heads.findIndex(head => head.querySelector("a")?.dataset.sort === sort);
  const order = heads[column]?.querySelector("a").dataset.order === "ascending" ? 1 : -1;
  const value = row => {
    const text = row.cells[column]?.firstChild?.textContent.trim() ?? "";
    const number = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : parseFloat(text.replace(/[(,]/g, ""));
    return Number.isNaN(number) ? null : number * (/M$/.test(text) ? 1e-3 : 1); // sizes are in B or M
  };
  // On the overview, what makers report comes after what was measured, and the first column has the rank in this order.
  const cell = row => row.cells[column]?.dataset ?? {};
  const isReported = row => cell(row).kind === "reported" ? 1 : 0;
  const isRanking = column <= 0 && sort !== "name" || sort === "overall" || sort === "score";
  const compare = sort === "name" ? (a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent)
    : (a, b) => {
      const [x, y] = [value(a), value(b)], kinds = isReported(a) - isReported(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return kinds || order * (x - y);
    };
  if (!isRanking) rows.sort(compare);
  body.append(...(isRanking ? every : rows));
  body.classList.toggle("unranked", !isRanking);
  if (!isRanking) for (const kind of body.querySelectorAll(".hn-kind")) kind.hidden = true;
  for (const row of rows) {
    const place = row.cells[0];
    if (!place.dataset.overall) continue;
    place.textContent = isRanking ? place.dataset.overall : cell(row).rank ?? "–";
  }
  heads.forEach(head => head.removeAttribute("aria-sort"));
  if (column >= 0) heads[column].setAttribute("aria-sort", order > 0 ? "ascending" : "descending");
}

// Show another address of the same page. `how` is "push" or "replace" for the browser's history, or "" to leave it.
let shown = location.search;
async function show(address, how) {
  if (isStatic) {
    history.replaceState(null, "", location.pathname + (address.includes("?") ? "?" + address.split("?")[1] : ""));
    shown = location.search;
    if (how === "push") restore();
    return filterRows();
  }
  const number = ++latest;
  if (how) history[how + "State"](null, "", address);
  shown = location.search;
  try {
    const answer = await fetch(address);
    const text = await answer.text();
    if (number !== latest) return;
    if (!answer.ok) throw new Error(answer.status);
    swap(text);
    announce();
    document.querySelector("#lost")?.remove();
  } catch {
    if (number === latest) warn();
  }
}

// Tell screen readers how many rows were found. The element stays, because replaced ones are not read out.
function announce() {
  const words = document.querySelector("[data-found]")?.textContent ?? "", place = document.querySelector("#announced");
  if (place.textContent !== words) place.textContent = words;
}

function warn() {
  if (document.querySelector("#lost")) return;
  const warning = Object.assign(document.createElement("p"), {id: "lost", className: "hn-warning"});
  warning.setAttribute("role", "status");
  warning.textContent = document.body.dataset.lost;
  document.querySelector("#notices").after(warning);
}

// The address that a form leads to, without values that have no effect.
function addressOf(form) {
  const values = new Map();
  for (const [name, value] of new FormData(form)) values.set(name, [...(values.get(name) ?? []), value]);
  const params = new URLSearchParams();
  for (const [name, all] of values) {
    const chosen = all.filter(Boolean).join(",");
    const set = form.querySelector(`fieldset[data-default] [name="${name}"]`)?.closest("fieldset");
    const first = form.querySelector(`select[name="${name}"] option`)?.value;
    const normal = set ? set.dataset.default : first ?? "";
    const same = (a, b) => a.split(",").sort().join() === b.split(",").sort().join();
    if (!same(chosen, normal)) params.set(name, chosen);
  }
  const query = params.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  return form.getAttribute("action").split("?")[0] + (query ? "?" + query : "");
}

let typing;
document.addEventListener("input", event => {
  const form = event.target.closest("form[data-query]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => show(addressOf(form), "replace"), event.target.type === "search" ? TYPING_MS : 0);
});

document.addEventListener("submit", async event => {
  const form = event.target;
  if (form.matches("[data-query]")) {
    event.preventDefault();
    clearTimeout(typing);
    show(addressOf(form), "replace");
  } else if (form.matches("[data-post]")) {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const place = document.querySelector(form.dataset.post);
    const buttons = form.querySelectorAll("button");
    buttons.forEach(button => { button.disabled = true; });
    place.textContent = form.dataset.busy;
    try {
      const answer = await fetch(form.getAttribute("action"), {method: "POST", body});
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(form.dataset.post);
      place.replaceChildren(...(next?.childNodes ?? [document.body.dataset.lost]));
    } catch {
      place.textContent = document.body.dataset.lost;
    }
    buttons.forEach(button => { button.disabled = false; });
    place.tabIndex = -1;
    place.focus({preventScroll: true});
    place.scrollIntoView({block: "nearest"});
  }
});

document.addEventListener("click", async event => {
  const link = event.target.closest("a[data-show]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    const sort = link.dataset.sort;
    const menu = document.querySelector("form[data-query] select[name=sort]");
    if (sort && menu) menu.value = sort;
    clearTimeout(typing); // a search that was typed just before must not replace what was clicked
    await show(link.getAttribute("href"), "push");
    if (!sort && !isStatic) restore();
    return;
  }
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch { // in a frame the browser may deny access to the clipboard
    getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
  const label = button.textContent;
  button.textContent = document.body.dataset.copied;
  setTimeout(() => { button.textContent = label; }, 1500);
});

// Fill the form from the address, after a link or the browser's back button changed it.
function restore() {
  const params = new URLSearchParams(location.search);
  for (const field of document.querySelectorAll("form[data-query] [name]")) {
    const chosen = params.has(field.name) ? params.getAll(field.name).join(",").split(",") : null;
    if (field.type === "checkbox") {
      const normal = field.closest("fieldset").dataset.default?.split(",") ?? [];
      field.checked = (chosen ?? normal).includes(field.value);
    } else if (field.type === "hidden") {
      if (field.name === "models") field.value = params.get("models") ?? "";
    } else if (field.tagName === "SELECT") {
      field.value = params.get(field.name) ?? "";
      if (field.selectedIndex < 0) field.selectedIndex = 0;
    } else field.value = params.get(field.name) ?? "";
  }
}

if (isStatic) {
  // On a Space's own page, the frame shows the first page with the parameters of the page around it.
  const params = new URLSearchParams(location.search), name = params.get("model") ?? "", tab = params.get("tab") ?? "";
  const file = /^[\w.-]+(\/[\w.-]+)?$/.test(name) ? `models/${name}.html`
    : /^[0-9a-f]{32}$/.test(params.get("request")) ? `requests/${params.get("request")}.html`
    : tab === "model" ? "models.html" : tab !== "overview" && /^[\w-]+$/.test(tab) ? `${tab}.html` : null;
  if (file && tab !== "compare") location.replace(file);
  const theme = params.get("__theme") ?? sessionStorage.getItem("theme");
  if (["light", "dark"].includes(theme)) {
    document.documentElement.className = theme;
    sessionStorage.setItem("theme", theme);
  }
  if (["q", "sort", "family", ...FILTERS].some(one => params.has(one))) {
    restore();
    filterRows();
  }
}

window.addEventListener("popstate", () => {
  if (location.search === shown) return; // a link within the page
  clearTimeout(typing);
  restore();
  show(location.href, "");
});

// Look for a new version of what is shown. The server answers in about 100 bytes.
let failures = 0;
async function refresh() {
  const {live, version} = document.body.dataset;
  if (!live || document.hidden) return;
  const answer = await fetch("/version").catch(() => null);
  failures = answer ? 0 : failures + 1;
  if (failures > 1) warn();
  else if (answer) document.querySelector("#lost")?.remove();
  if (answer?.ok && (await answer.json())[live] !== version) show(location.href, "");
}
if (document.body.dataset.live) {
  setInterval(refresh, REFRESH_MS);
  document.addEventListener("visibilitychange", refresh);
}

// On a phone the navigation is one line that scrolls.
document.querySelector("#pages [aria-current]")?.scrollIntoView({block: "nearest", inline: "center"});

// Charts are drawn when they come into view. The plotting library is loaded with the first one.
let library;
const MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
function plotly(source) {
  return library ??= new Promise((done, fail) => {
    // plotly.js adds the style of its maps inline, which the security policy forbids, unless it finds an element with this id.
    document.head.append(Object.assign(document.createElement("meta"), {id: MAP_STYLE}));
    const script = Object.assign(document.createElement("script"), {src: source, onload: done, onerror: fail});
    document.head.append(script);
  });
}

async function draw(chart) {
  chart.dataset.drawn = "true";
  const address = chart.dataset.chart;
  try {
    const [answer] = await Promise.all([fetch(address), plotly(chart.dataset.plotly)]);
    const figure = await answer.json();
    if (address !== chart.dataset.chart) return; // the filters have changed since
    chart.closest("figure").hidden = !figure;
    if (figure) await Plotly.react(chart, figure.data, figure.layout, {displayModeBar: false, responsive: true});
  } catch { // the table above and the CSV have the same data
    chart.closest("figure").hidden = true;
  }
}

const seen = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
}, {rootMargin: "200px"});
document.querySelectorAll("[data-chart]").forEach(chart => seen.observe(chart));
