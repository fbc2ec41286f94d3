// Every page works without this script.

/** Puts the next outing and the river board on the home page. */
async function fillBoards() {
  const next = document.querySelector("[data-next-outing]");
  const river = document.querySelector("[data-river]");
  await Promise.all([next && fillNextOuting(next), river && fillRiver(river)]);
}

async function fillNextOuting(place) {
  const { outing } = await json("/api/next-outing");
  if (!outing) return;
  const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
  place.querySelector("[data-title]").textContent = outing.title;
  place.querySelector("[data-when]").textContent = `${day.format(new Date(outing.day))}, ${outing.starts}`;
  place.querySelector("[data-summary]").textContent = outing.summary;
  const places = place.querySelector("[data-places]");
  places.textContent = outing.free > 0 ? `${outing.free} of ${outing.places} places free` : "Full";
  places.hidden = false;
  place.querySelector("a").href = `/outings#${outing.id}`;
}

async function fillRiver(place) {
  const { flag, note } = await json("/api/river");
  place.querySelector("[data-flag]").dataset.flag = flag;
  place.querySelector("[data-title]").textContent = `The river is on ${flag}`;
  place.querySelector("[data-note]").textContent = note;
}

/** Sends a form without leaving the page. If that fails, the browser sends it. */
function enhance(form) {
  const news = form.querySelector("[data-news]");
  const button = form.querySelector("button");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        headers: { accept: "application/json" },
        body: new URLSearchParams(new FormData(form)),
      });
      if (!answer.ok) throw new Error(String(answer.status));
      form.reset();
      say(news, "good", form.dataset.thanks);
    } catch {
      form.submit();
    } finally {
      button.disabled = false;
    }
  });
}

function say(place, mood, text) {
  place.className = `notice ${mood}`;
  place.textContent = text;
  place.focus();
}

async function json(url) {
  const answer = await fetch(url, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

fillBoards().catch((error) => console.warn(error));
document.querySelectorAll("form[data-thanks]").forEach(enhance);
