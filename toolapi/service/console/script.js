// The console with JavaScript: proposals count down, and the page shows that a new proposal waits.
// It never moves parts of the page by itself.
"use strict";

/** @type {NodeListOf<HTMLElement>} */
const counters = document.querySelectorAll("[data-expires]");

function tick() {
  for (const counter of counters) {
    const seconds = Math.ceil((Date.parse(counter.dataset.expires) - Date.now()) / 1000);
    if (seconds > 0) {
      counter.textContent =
        seconds >= 60
          ? `in ${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`
          : `in ${seconds} s`;
      continue;
    }
    counter.textContent = "now expired";
    for (const button of counter.closest("article").querySelectorAll("button")) {
      button.disabled = true;
    }
  }
}

/** @type {HTMLElement} */
const fresh = document.querySelector("[data-pending]");

async function look() {
  if (document.hidden) {
    return;
  }
  const answer = await fetch(fresh.dataset.pending, { headers: { accept: "application/json" } });
  if (!answer.ok) {
    return;
  }
  const now = await answer.json();
  if (now.newest !== fresh.dataset.newest || String(now.waiting) !== fresh.dataset.waiting) {
    fresh.hidden = false;
  }
}

if (counters.length > 0) {
  tick();
  setInterval(tick, 1000);
}
if (fresh) {
  setInterval(() => look().catch(() => {}), 4000); // the service may be down for a while
}
