// Starts the libraries: Plotly draws the plots of a page, and List.js sorts and filters its tables.
"use strict";

const darkColours = JSON.parse(document.currentScript.dataset.dark);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;

function readPlot(text) {
  return JSON.parse(text, (key, value) => (dark && darkColours[value]) || value);
}

// One plot after another, so that the first is visible before the last is drawn.
function drawPlots(scripts) {
  if (!scripts.length) {
    performance.mark("drawn");
    document.documentElement.dataset.drawn = "true";
    return;
  }
  const [script, ...others] = scripts;
  const {data, layout} = readPlot(script.textContent);
  Plotly.newPlot(script.dataset.plot, data, layout, {
    responsive: true, displaylogo: false, showLink: false, showSendToCloud: false,
    toImageButtonOptions: {format: "svg"},
    modeBarButtonsToRemove: ["pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
  });
  setTimeout(() => drawPlots(others));
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
    sheet.list = new List(sheet, {valueNames, page: 1e9, sortFunction: compareRows});
    sheet.list.on("updated", () => tellOrder(sheet));
  }
  return sheet.list;
}

for (const sheet of document.querySelectorAll(".sheet")) {
  for (const event of ["focusin", "pointerdown"]) sheet.addEventListener(event, () => listOf(sheet));
}

const asked = new URLSearchParams(location.search).get("q");
const results = document.getElementById("search-table-sheet");
if (asked && results) {
  results.querySelector(".search").value = asked;
  listOf(results).search(asked);
}

drawPlots([...document.querySelectorAll("script[data-plot]")]);
