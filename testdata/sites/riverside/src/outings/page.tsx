import { boatOf } from "../lib/boats";
import { dayInWords } from "../lib/calendar";
import { Page } from "../lib/layout";
import { NEWS, type NewsCode } from "../lib/news";
import type { Outing } from "../lib/outings";

interface Props {
  outings: Outing[];
  news: NewsCode | undefined;
}

export const LEVELS: Record<Outing["level"], string> = { learn: "Learn", social: "Social", race: "Race" };

export function OutingsPage({ outings, news }: Props) {
  return (
    <Page title="Outings" path="/outings">
      <div class="lead">
        <p class="eyebrow">The coming week</p>
        <h1>Outings</h1>
        <p>Every outing repeats weekly. Guests are welcome wherever there is a place; a coach finds you a seat.</p>
      </div>
      <div id="news" aria-live="polite">
        {news && <p class={`notice ${news === "signed-up" ? "good" : "bad"}`}>{NEWS[news]}</p>}
      </div>
      <ol class="outings">
        {outings.map((outing) => (
          <OutingCard outing={outing} />
        ))}
      </ol>
    </Page>
  );
}

function OutingCard({ outing }: { outing: Outing }) {
  const boat = boatOf(outing.boat);
  return (
    <li class="card outing" id={outing.id}>
      <img src={`/api/boats/${outing.boat}/photo?width=320`} alt="" width="320" height="200" loading="lazy" />
      <div>
        <p class="eyebrow">
          <time datetime={`${outing.day}T${outing.starts}`}>
            {dayInWords(outing.day)}, {outing.starts}
          </time>
        </p>
        <h2>{outing.title}</h2>
        <p>{outing.summary}</p>
        <ul class="tags">
          <li class={`tag ${outing.level}`}>{LEVELS[outing.level]}</li>
          <li class="tag">{outing.minutes} minutes</li>
          {boat && <li class="tag">{boat.name}</li>}
          <li class="tag">{outing.free > 0 ? `${outing.free} of ${outing.places} free` : "Full"}</li>
        </ul>
        {outing.free > 0 && <SignUpForm outing={outing} />}
      </div>
    </li>
  );
}

function SignUpForm({ outing }: { outing: Outing }) {
  const id = (field: string) => `${outing.id}-${field}`;
  return (
    <details>
      <summary>Take a place</summary>
      <form class="fields" method="post" action={`/api/outings/${outing.id}/signups`}>
        <label for={id("name")}>Name</label>
        <input id={id("name")} name="name" required maxlength={80} autocomplete="name" />
        <label for={id("email")}>E-mail</label>
        <input id={id("email")} name="email" type="email" required maxlength={254} autocomplete="email" />
        <label for={id("note")}>Anything we should know?</label>
        <input id={id("note")} name="note" maxlength={300} />
        <button>Take a place</button>
      </form>
    </details>
  );
}
