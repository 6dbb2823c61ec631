// Starts the libraries: Plotly draws the plots of a page, and List.js sorts and filters its tables.
"use strict";

const darkColours = JSON.parse(document.currentScript.dataset.dark);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;

function readPlot(text) {
  return JSON.parse(text, (key, value) => (dark && darkColours[value]) || value);
}

// A plot is drawn when it comes near the screen. Those that wait, by their element:
const waiting = new Map([...document.querySelectorAll("script[data-plot]")].map(
  script => [document.getElementById(script.dataset.plot), script]));

function drawPlot(plot) {
  if (!waiting.has(plot)) return;
  const {data, layout} = readPlot(waiting.get(plot).textContent);
  waiting.delete(plot);
  Plotly.newPlot(plot, data, layout, {
    responsive: true, displaylogo: false, showLink: false, showSendToCloud: false,
    toImageButtonOptions: {format: "svg"},
    modeBarButtonsToRemove: ["pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
  });
}

// One after another, so that the first is visible before the last is drawn.
function drawPlots(plots) {
  if (!plots.length) {
    if (!document.documentElement.dataset.drawn) performance.mark("drawn");
    document.documentElement.dataset.drawn = "true";
    return;
  }
  drawPlot(plots[0]);
  setTimeout(() => drawPlots(plots.slice(1)));
}

// A number sorts by its value, which may be written with units; a dash comes last.
function compareRows(a, b, {valueName}) {
  const [one, other] = [a, b].map(item => item.elm.querySelector(`.${valueName}`));
  const [x, y] = [one, other].map(cell => parseFloat(cell.closest("td").dataset.value));
  if (!isNaN(x) && !isNaN(y)) return x - y;
  if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
  return one.textContent.localeCompare(other.textContent, undefined, {numeric: true});
}

function tellOrder(sheet) {
  for (const button of sheet.querySelectorAll("button.sort")) {
    const order = ["asc", "desc"].find(name => button.classList.contains(name));
    if (order) button.closest("th").setAttribute("aria-sort", `${order}ending`);
    else button.closest("th").removeAttribute("aria-sort");
  }
}

// A table becomes a list when it is first used, so that a page with long tables opens at once.
function listOf(sheet) {
  if (!sheet.list) {
    const columns = sheet.querySelectorAll("button.sort").length;
    const valueNames = Array.from({length: columns}, (_, column) => `c${column}`);
    const options = {valueNames, page: 1e9, sortFunction: compareRows};
    const others = sheet.querySelector("template");
    if (others) {
      sheet.querySelector(".more").parentElement.remove();
      options.page = sheet.querySelectorAll("tbody tr").length;
      options.pagination = {item: "<li><button type='button' class='page'></button></li>"};
      sheet.querySelector("tbody").append(others.content);
    }
    sheet.list = new List(sheet, options);
    sheet.list.on("updated", () => tellOrder(sheet));
  }
  return sheet.list;
}

// A link may lead to a row that is on a later page of its table.
function showRow(id) {
  for (const sheet of document.querySelectorAll(".sheet")) {
    const others = sheet.querySelector("template");
    if (!id || !(others?.content.getElementById(id) || sheet.list)) continue;
    const place = listOf(sheet).matchingItems.findIndex(({elm}) => elm.id === id);
    if (place < 0) continue;
    sheet.list.show(place - place % sheet.list.page + 1, sheet.list.page);
    document.getElementById(id).scrollIntoView();
    location.replace(`#${id}`);
  }
}

for (const sheet of document.querySelectorAll(".sheet")) {
  for (const event of ["focusin", "pointerdown"]) {
    sheet.querySelector("table").addEventListener(event, () => listOf(sheet));
    sheet.querySelector(".search")?.addEventListener(event, () => listOf(sheet));
  }
  sheet.querySelector(".more")?.addEventListener("click", () => {
    listOf(sheet);
    sheet.querySelector(".pagination .page").focus();
  });
}

const asked = new URLSearchParams(location.search).get("q");
const results = document.getElementById("search-table-sheet");
if (asked && results) {  // without a curve there is no table
  results.querySelector(".search").value = asked;
  listOf(results).search(asked);
}

showRow(location.hash.slice(1));
addEventListener("hashchange", () => document.querySelector(":target") || showRow(location.hash.slice(1)));

const near = new IntersectionObserver(
  entries => drawPlots(entries.filter(entry => entry.isIntersecting).map(entry => entry.target)),
  {rootMargin: "25%"});
for (const plot of waiting.keys()) near.observe(plot);
if (!waiting.size) drawPlots([]);
addEventListener("beforeprint", () => [...waiting.keys()].forEach(drawPlot));
