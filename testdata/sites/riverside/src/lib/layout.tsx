import { html } from "hono/html";
import type { Child } from "hono/jsx";

const LINKS = [
  ["/", "Home"],
  ["/about", "About"],
  ["/fleet", "Fleet"],
  ["/outings", "Outings"],
  ["/join", "Join"],
  ["/contact", "Contact"],
  ["/club", "Members"],
] as const;

interface PageProps {
  title: string;
  path: (typeof LINKS)[number][0];
  children: Child;
}

/** The layout of every page from the Worker. The static pages have the same. */
export function Page({ title, path, children }: PageProps) {
  return html`<!doctype html>${(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title} · Riverside Rowing Club</title>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/css/site.css" />
        <script type="module" src="/js/site.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="masthead">
          <a class="brand" href="/">
            <img src="/favicon.svg" alt="" width="36" height="36" />
            <span>Riverside Rowing Club</span>
          </a>
          <nav aria-label="Main">
            <ul>
              {LINKS.map(([href, label]) => (
                <li>
                  <a href={href} aria-current={href === path ? "page" : undefined}>
                    {label}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </header>
        <main id="main">{children}</main>
        <footer class="foot">
          <p>Riverside Rowing Club, The Boathouse, Towpath Lane. Founded 1897.</p>
          <p>
            <a href="/api/calendar.ics">Outings as a calendar</a> · <a href="/minutes/">Minutes</a>
          </p>
        </footer>
      </body>
    </html>
  )}`;
}
