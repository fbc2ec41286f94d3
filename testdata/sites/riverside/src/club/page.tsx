import type { Member } from "../env";
import { dayInWords } from "../lib/calendar";
import { Page } from "../lib/layout";
import type { Outing } from "../lib/outings";
import { LEVELS } from "../outings/page";
import safety from "../text/safety.txt";
import type { Crew } from "./crews";
import { NOTE_LENGTH, type Note } from "./notes";

export interface News {
  good: boolean;
  text: string;
}

interface Props {
  member: Member;
  outings: Outing[];
  crews: Crew[];
  notes: Note[];
  news: News | undefined;
}

export function ClubPage({ member, outings, crews, notes, news }: Props) {
  return (
    <Page title="Members" path="/club">
      <div class="lead">
        <p class="eyebrow">Members</p>
        <h1>Good to see you, {member.name}</h1>
        <p>
          You are signed in as {member.email}. The <a href="/minutes/">minutes</a> of the committee are here too.
        </p>
        <form method="post" action="/__pages/sign-out">
          <button class="quiet">Sign out</button>
        </form>
      </div>
      <div aria-live="polite">{news && <p class={`notice ${news.good ? "good" : "bad"}`}>{news.text}</p>}</div>
      <OutingSheet outings={outings} />
      <CrewBoard crews={crews} />
      <NoticeBoard notes={notes} />
      <section aria-labelledby="safety-title">
        <h2 id="safety-title">Before you go afloat</h2>
        <ul class="ticks">
          {safety.trim().split("\n").map((rule) => (
            <li>{rule}</li>
          ))}
        </ul>
      </section>
    </Page>
  );
}

function OutingSheet({ outings }: { outings: Outing[] }) {
  return (
    <section id="outings" aria-labelledby="outings-title">
      <div class="row">
        <h2 id="outings-title">This week's outings</h2>
        <a href="/club/signups.csv">All sign-ups (CSV)</a>
      </div>
      <ul class="sheet">
        {outings.map((outing) => (
          <li>
            <div>
              <h3>{outing.title}</h3>
              <p class="by">
                {dayInWords(outing.day)}, {outing.starts}
              </p>
            </div>
            <p class="tags">
              <span class={`tag ${outing.level}`}>{LEVELS[outing.level]}</span>
              <span class="tag">{outing.free > 0 ? `${outing.free} of ${outing.places} free` : "Full"}</span>
            </p>
            <form method="post" action={`/club/outings/${outing.id}/signups`}>
              <button class="quiet" disabled={outing.free === 0} aria-label={`Take a seat in ${outing.title}`}>
                Take a seat
              </button>
            </form>
          </li>
        ))}
      </ul>
    </section>
  );
}

function CrewBoard({ crews }: { crews: Crew[] }) {
  return (
    <section aria-labelledby="crews-title">
      <h2 id="crews-title">Crew board</h2>
      <div class="grid crews">
        {crews.map((crew) => (
          <article class="card crew">
            <p class="eyebrow">{crew.squad}</p>
            <h3>{crew.name}</h3>
            <dl>
              {crew.seats.map(({ seat, rower }) => (
                <div>
                  <dt>{seat}</dt>
                  <dd>
                    {rower}
                    {rower === crew.captain && <span class="tag">captain</span>}
                  </dd>
                </div>
              ))}
            </dl>
          </article>
        ))}
      </div>
    </section>
  );
}

function NoticeBoard({ notes }: { notes: Note[] }) {
  return (
    <section id="notes" aria-labelledby="notes-title">
      <h2 id="notes-title">Notice board</h2>
      <form class="fields" method="post" action="/club/notes">
        <label for="note">Pin a note</label>
        <textarea id="note" name="body" rows={2} required maxlength={NOTE_LENGTH}></textarea>
        <button>Pin it</button>
      </form>
      <ul class="notes">
        {notes.map((note) => (
          <li>
            <p>{note.body}</p>
            <p class="by">
              {note.author}, <time datetime={note.created_at}>{dayInWords(note.created_at.slice(0, 10))}</time>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
