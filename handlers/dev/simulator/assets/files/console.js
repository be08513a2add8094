// What the console does by itself: it looks once a second whether anything has
// changed, and then renews the parts marked data-live. Forms marked data-quiet
// are sent without leaving the page. Without this file everything works, by
// reloading.
"use strict";

const trouble = document.getElementById("trouble");
const live = document.getElementById("live");
let revision = document.body.dataset.revision;

function say(text) {
  trouble.textContent = text;
  trouble.classList.toggle("hidden", !text);
}

// renew fetches this page and swaps the live parts that differ, keeping what is
// unfolded and where the focus is. A part in which somebody types, has typed
// something that is not saved, or selects text waits.
async function renew() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || busy(part)) continue;
    for (const open of part.querySelectorAll("details[open][id]")) {
      fresh.querySelector("#" + CSS.escape(open.id))?.setAttribute("open", "");
    }
    if (fresh.innerHTML === part.innerHTML) continue;
    const focus = part.contains(document.activeElement) ? document.activeElement.id : "";
    part.replaceChildren(...fresh.childNodes);
    if (focus) document.getElementById(focus)?.focus();
  }
}

function busy(part) {
  const active = document.activeElement;
  const typing = part.contains(active) && active.matches("input:not([type=hidden])");
  const selection = document.getSelection();
  const selecting = !selection.isCollapsed && part.contains(selection.anchorNode);
  return typing || selecting || [...part.querySelectorAll("input")].some(unsaved);
}

function unsaved(control) {
  if (control.matches("[type=checkbox]")) return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
}

// saved makes what a form holds its new starting point.
function saved(form) {
  for (const control of form.elements) {
    control.defaultValue = control.value;
    control.defaultChecked = control.checked;
  }
}

async function look() {
  try {
    const response = await fetch("/_sim/revision");
    const now = String((await response.json()).revision);
    if (now !== revision) {
      await renew();
      revision = now;
    }
    live.textContent = "Updates by itself.";
  } catch {
    live.textContent = "The simulator does not answer.";
  }
}

async function send(form, submitter) {
  submitter?.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(form, submitter)),
    });
    const answer = await response.json();
    say(response.ok ? "" : answer.error.message);
    if (response.ok) {
      if ("clear" in form.dataset) form.reset(); else saved(form);
      document.activeElement?.matches("input, textarea, select") && document.activeElement.blur();
    }
    await renew();
  } catch {
    say("The simulator does not answer.");
  } finally {
    submitter?.removeAttribute("aria-busy");
  }
}

document.addEventListener("submit", (event) => {
  if (!("quiet" in event.target.dataset)) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

setInterval(() => { if (!document.hidden) look(); }, 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
look();
