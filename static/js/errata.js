/* What pages need of script beside htmx: keys, charts, drag and drop. No text from logs
   is ever made markup here: only textContent is set. */
"use strict";

const typing = (el) => el && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName) && el.type !== "radio" && el.type !== "checkbox");

/* Keys: an element with data-key="x" is clicked by x ("g o": g, then o). */
let pending = "";
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key === "Enter" ? "Enter" : event.key;
  if (typing(event.target) || (key === "Enter" && event.target.closest("a, button, summary"))) return;
  if (key === "?") { openKeys(); event.preventDefault(); return; }
  const wanted = pending ? pending + " " + key : key;
  const target = [...document.querySelectorAll("[data-key]")].find((el) => el.dataset.key === wanted && el.offsetParent !== null)
    || [...document.querySelectorAll("[data-key]")].find((el) => el.dataset.key === wanted);
  pending = !pending && document.querySelector(`[data-key^="${CSS.escape(key)} "]`) ? key : "";
  if (!target) return;
  event.preventDefault();
  if (target.matches("input[type=radio]")) { target.checked = true; target.dispatchEvent(new Event("change", { bubbles: true })); }
  else if (target.matches("textarea, input")) target.focus();
  else target.click();
});

function openKeys() {
  const dialog = document.getElementById("keys");
  const list = dialog.querySelector("[data-keys]");
  list.replaceChildren();
  for (const el of document.querySelectorAll("[data-key]")) {
    const term = document.createElement("dt");
    for (const part of el.dataset.key.split(" ")) { const k = document.createElement("kbd"); k.textContent = part; term.append(k, " "); }
    const what = document.createElement("dd");
    what.textContent = el.dataset.keyLabel || el.closest("label")?.innerText.trim() || el.getAttribute("aria-label") || el.innerText.trim();
    list.append(term, what);
  }
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open=keys]");
  if (opener) openKeys();
  const copier = event.target.closest("[data-copy]");
  if (copier) {
    const text = document.getElementById(copier.dataset.copy).textContent;
    navigator.clipboard.writeText(text).then(() => { copier.textContent = "Copied"; });
  }
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

/* The menu is folded on a phone, where it would push the page down. */
if (window.matchMedia("(max-width: 900px)").matches) document.querySelector("details.menu")?.removeAttribute("open");

/* Jump from error to error of a transcript. */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-jump]");
  if (!button) return;
  const errors = [...document.querySelectorAll(".call.failed")];
  if (!errors.length) return;
  const now = errors.findIndex((el) => el.classList.contains("here"));
  const next = (now + (button.dataset.jump === "next" ? 1 : -1) + errors.length) % errors.length;
  errors.forEach((el, i) => el.classList.toggle("here", i === (now < 0 && button.dataset.jump !== "next" ? errors.length - 1 : next)));
  const here = errors.find((el) => el.classList.contains("here"));
  here.scrollIntoView({ block: "center" });
  const place = document.querySelector("[data-jump-place]");
  if (place) place.textContent = `${errors.indexOf(here) + 1} of ${errors.length}`;
});

/* Drag and drop: dropped files go into the form's file field and are sent at once. */
for (const drop of document.querySelectorAll(".drop")) {
  const input = drop.querySelector("input[type=file]");
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.remove("over"); });
  drop.addEventListener("drop", (e) => { if (e.dataTransfer.files.length) { input.files = e.dataTransfer.files; input.form.requestSubmit(); } });
  input.form.addEventListener("submit", () => { input.form.querySelector("button").disabled = true; });
  input.addEventListener("change", () => { if (input.files.length) input.form.requestSubmit(); });
}

/* Charts: an element with data-chart names the JSON block that holds its figure. The
   library is loaded only where there is one, and drawn again when the theme changes. */
let plotly;
function loadPlotly(url) {
  plotly ||= new Promise((done, fail) => {
    const marker = document.createElement("link");
    marker.id = "plotly.js-style-global"; marker.className = "no-inline-styles";
    document.head.append(marker);
    const script = document.createElement("script");
    script.src = url; script.onload = () => done(window.Plotly); script.onerror = fail;
    document.head.append(script);
  });
  return plotly;
}
function themed(figure) {
  const css = getComputedStyle(document.documentElement);
  const text = JSON.stringify(figure).replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => css.getPropertyValue(name).trim());
  return JSON.parse(text);
}
async function draw(el) {
  const data = document.getElementById(el.dataset.chart);
  if (!data) return;
  const library = await loadPlotly(el.dataset.library);
  const figure = themed(JSON.parse(data.textContent));
  await library.react(el, figure.data, figure.layout, { responsive: true, displaylogo: false, displayModeBar: false });
  el.dataset.drawn = "yes";
}
function drawAll(root) { for (const el of root.querySelectorAll("[data-chart]")) draw(el); }
document.addEventListener("DOMContentLoaded", () => drawAll(document));
document.addEventListener("htmx:afterSettle", (event) => { if (event.target.isConnected) drawAll(event.target.parentElement || document); });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));
