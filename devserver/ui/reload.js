// Keeps this page up to date during the development of its site. The dev server adds it after the document; the published site does not
// have it.
(() => {
  "use strict";
  const TOKEN = "%TOKEN%";
  const STREAM = "%STREAM%";
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  if (!script || "__pagesReload" in window) return;
  Object.defineProperty(window, "__pagesReload", { value: true });

  let version = new URL(script.src).searchParams.get("v") || "0";
  // Set on the page that the dev server shows instead of a site that does not build.
  const ownBuild = document.documentElement.dataset.pagesBuild;
  let overlay = null;
  let before = null; // the element with the focus before the overlay
  let source = null;
  let retry = 1000;
  let channel = null;
  let leave = null; // ends the wait for the stream's lock, or releases the lock
  let latest = null; // the latest problems
  const me = Math.random();

  connect();
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (e) => e.persisted && connect());
  document.addEventListener("visibilitychange", connect);

  function disconnect() {
    if (source) source.close();
    if (channel) channel.close();
    if (leave) leave();
    source = channel = leave = null;
  }

  // A browser opens few connections to one host, so a hidden page closes its connection. It catches up when it is visible again. For the
  // same reason the visible pages share one stream: the page that holds the lock has the stream, and passes its messages on.
  function connect() {
    disconnect();
    if (document.hidden) return;
    if (!navigator.locks) return open(); // not over HTTP from another machine
    const name = `__pages_reload ${TOKEN}`;
    const waiting = new AbortController();
    leave = () => waiting.abort();
    channel = new BroadcastChannel(name);
    channel.addEventListener("message", (e) => heard(e.data));
    channel.postMessage({ event: "join", from: me });
    navigator.locks
      .request(name, { signal: waiting.signal }, () => {
        if (waiting.signal.aborted) return;
        const held = new Promise((release) => {
          leave = release;
        });
        open();
        pass({ event: "version", data: version });
        return held;
      })
      .catch((error) => error.name === "AbortError" || open()); // a sandboxed page has no locks
  }

  function open() {
    source = new EventSource(`${STREAM}?token=${encodeURIComponent(TOKEN)}&v=${encodeURIComponent(version)}`);
    source.addEventListener("open", () => {
      retry = 1000;
    });
    source.addEventListener("update", (e) => {
      const data = JSON.parse(e.data);
      pass({ event: "update", data });
      latest = null;
      update(data);
    });
    source.addEventListener("problems", (e) => {
      latest = JSON.parse(e.data);
      pass({ event: "problems", data: latest });
      show(latest);
    });
    source.addEventListener("error", (e) => {
      if (e.target !== source || source.readyState !== EventSource.CLOSED) return;
      setTimeout(lookAgain, retry);
      retry = Math.min(retry * 2, 10000);
    });
  }

  function pass(message) {
    if (channel) channel.postMessage(message);
  }

  // A message of another page. A new page may have missed an update: it gets the version, and the problems if there are any.
  function heard({ event, data, from, to }) {
    if (event === "join" && source) {
      pass({ event: "version", data: version, to: from });
      if (latest) pass({ event: "problems", data: latest, to: from });
    }
    if (to !== undefined && to !== me) return;
    if (event === "version" && Number(data) > Number(version)) reload(`version ${data}`);
    if (event === "update" && data.version > Number(version)) update(data);
    if (event === "problems") show(data);
    if (event === "server") reload("another server");
  }

  // The stream was refused: another dev server runs there now, with other pages, or this one has no room at the moment.
  async function lookAgain() {
    try {
      const answer = await fetch(script.src, { cache: "no-store" });
      if (answer.ok && !(await answer.text()).includes(TOKEN)) {
        pass({ event: "server" });
        return reload("another server");
      }
    } catch {
      /* not up yet */
    }
    connect();
  }

  function update(to) {
    hide();
    if (to.type === "css" && swapStyles(to.paths || [], to.version)) {
      version = String(to.version);
      return;
    }
    reload(`version ${to.version}`);
  }

  // A page that returns unchanged (a service worker may do that) is not reloaded again at once for the same reason.
  function reload(reason) {
    const mine = `${TOKEN.slice(0, 6)} ${version} ${location.pathname} ${reason}`;
    try {
      const [at, which] = JSON.parse(sessionStorage.getItem("__pages_reload") || "[0]");
      if (which === mine && Date.now() - at < 5000) return;
      sessionStorage.setItem("__pages_reload", JSON.stringify([Date.now(), mine]));
    } catch {
      /* no storage here: reload all the same */
    }
    location.reload();
  }

  // Replaces the links of the changed style sheets. It adds the new one before it removes the old one, so that the page always has one. If
  // no link names a sheet, another sheet imports it: then all are fetched again.
  function swapStyles(paths, to) {
    /** @type {NodeListOf<HTMLLinkElement>} */
    const sheets = document.querySelectorAll('link[rel~="stylesheet"][href]');
    const links = [...sheets].filter((link) => new URL(link.href).origin === location.origin);
    const named = links.filter((link) => paths.includes(sitePath(link.href)));
    for (const link of named.length > 0 ? named : links) {
      const fresh = /** @type {HTMLLinkElement} */ (link.cloneNode());
      const url = new URL(link.href);
      url.searchParams.set("__pages", to);
      fresh.href = url.href;
      fresh.addEventListener("load", () => link.remove(), { once: true });
      fresh.addEventListener("error", () => fresh.remove(), { once: true });
      link.after(fresh);
    }
    return links.length > 0;
  }

  function sitePath(href) {
    const path = new URL(href).pathname;
    try {
      return decodeURIComponent(path).normalize("NFC");
    } catch {
      return path;
    }
  }

  function hide() {
    if (overlay) overlay.remove();
    overlay = null;
    before?.focus?.({ preventScroll: true });
    before = null;
  }

  function show({ build, problems }) {
    if (ownBuild !== undefined && ownBuild !== "0") {
      if (ownBuild !== String(build)) reload(`build ${build}`);
      return;
    }
    const focused = before || document.activeElement;
    if (overlay) overlay.remove();
    overlay = null;
    if (window.top !== window || problems.length === 0) return hide();
    overlay = document.createElement("pages-problems");
    const root = overlay.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet(); // every policy allows it, unlike <style>
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const panel = add(root, "section");
    panel.setAttribute("role", "alertdialog");
    panel.setAttribute("aria-label", "The site does not build");
    const close = add(panel, "button", "", "Close");
    close.type = "button";
    close.title = "Close (Esc)";
    close.addEventListener("click", hide);
    add(panel, "p", "state", "The newest change does not build. This page shows the last version that did.");
    for (const problem of problems) report(panel, problem);
    document.documentElement.append(overlay);
    before = focused; // gets the focus back
    close.focus({ preventScroll: true });
  }

  addEventListener("keydown", (e) => {
    if (e.key === "Escape") hide();
  });

  function report(panel, p) {
    const box = add(panel, "article");
    add(box, "h1", "", p.title || "Something went wrong");
    add(box, "p", "message", p.message);
    if (p.file) add(box, "p", "place", place(p));
    if (p.snippet && p.snippet.length > 0) {
      const code = scrolled(add(box, "pre"));
      for (const line of p.snippet) {
        add(code, "span", line.hit ? "line hit" : "line", `${String(line.number).padStart(4)} │ ${line.text}\n`);
        if (line.hit && p.column) {
          const shown = line.cut ? p.column - line.cut : p.column - 1; // with the ellipsis
          const before = [...line.text]
            .slice(0, Math.max(0, shown))
            .map((c) => (c === "\t" ? "\t" : " "))
            .join("");
          const width = Math.max(1, Math.min((p.end_column || 0) - p.column, [...line.text].length - before.length));
          add(code, "span", "line marks", `     │ ${before}${"^".repeat(width)}\n`);
        }
      }
    }
    if (p.fix) add(box, "p", "fix", p.fix);
    if (p.frames && p.frames.length > 0) {
      const list = add(box, "ol");
      for (const f of p.frames) add(list, "li", "", `${f.func || "(anonymous)"}  ${place(f)}`);
    }
    for (const note of p.notes || []) add(box, "p", "note", note);
  }

  // The keyboard can scroll elements that may be wider than the screen.
  function scrolled(pre) {
    pre.tabIndex = 0;
    pre.setAttribute("aria-label", "The lines around it");
    return pre;
  }

  function place(at) {
    return at.file + (at.line ? `:${at.line}` : "") + (at.line && at.column ? `:${at.column}` : "");
  }

  // It shows all values as text: no part of a problem is parsed as HTML.
  function add(parent, name, className, text) {
    const el = document.createElement(name);
    if (className) el.className = className;
    if (text !== undefined) el.textContent = text;
    parent.append(el);
    return el;
  }

  const STYLE = `
    :host { all: initial; position: fixed; inset: 0; z-index: 2147483647; overflow: auto; padding: 4vh 4vw;
      background: rgb(15 18 24 / .55); color-scheme: light dark; box-sizing: border-box; }
    section { position: relative; max-width: 60rem; margin: 0 auto; padding: 1.25rem 1.5rem 1.5rem; border-radius: .75rem;
      border-top: 4px solid #d6336c; background: light-dark(#fff, #16191f); color: light-dark(#1c2128, #e4e7ec);
      font: 15px/1.5 system-ui, sans-serif; box-shadow: 0 1rem 3rem rgb(0 0 0 / .35); }
    button { position: absolute; top: 1rem; right: 1rem; font: inherit; padding: .2rem .8rem; border-radius: .4rem; cursor: pointer;
      border: 1px solid light-dark(#c9d0d8, #3a414c); background: transparent; color: inherit; }
    button:focus-visible, pre:focus-visible { outline: 2px solid #4c8dff; outline-offset: 2px; }
    h1 { font-size: 1.15rem; margin: 1rem 0 .25rem; color: light-dark(#b3123f, #ff8fab); }
    p { margin: .25rem 0; } .state { padding-right: 5rem; color: light-dark(#5b6472, #9aa4b2); }
    .message { font-weight: 600; white-space: pre-wrap; overflow-wrap: anywhere; }
    .place, li { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
    .place { color: light-dark(#0b62c4, #79b8ff); }
    pre { margin: .75rem 0; padding: .75rem 0; overflow: auto; border-radius: .5rem; background: light-dark(#f4f6f8, #0e1116);
      font: 13px/1.55 ui-monospace, monospace; tab-size: 4; }
    .line { display: block; padding: 0 1rem; min-width: max-content; } .hit { background: light-dark(#ffe3ea, #40202b); }
    .marks { color: light-dark(#b3123f, #ff8fab); font-weight: 700; }
    .fix { padding: .5rem .75rem; border-left: 3px solid #2f9e63; background: light-dark(#e9f7ef, #14261d); }
    .fix::before { content: "Fix: "; font-weight: 600; } ol { padding-left: 1.5rem; margin: .5rem 0; }`;
})();
