import { Hono } from "hono";
import type { AppEnv } from "../env";
import { icalendarTime, startOf } from "../lib/calendar";
import { comingOutings, type Outing } from "../lib/outings";

/** The weekly programme as a calendar that a phone can subscribe to (RFC 5545). */
export const calendar = new Hono<AppEnv>();

calendar.get("/calendar.ics", async (c) => {
  const outings = await comingOutings(c.env.DB, new Date());
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Riverside Rowing Club//Outings//EN",
    ...outings.flatMap(event),
    "END:VCALENDAR",
    "",
  ];
  return c.body(lines.join("\r\n"), 200, {
    "content-type": "text/calendar; charset=utf-8",
    "content-disposition": 'inline; filename="riverside-outings.ics"',
  });
});

function event(outing: Outing): string[] {
  const start = startOf(outing.day, outing.starts);
  const end = new Date(start.getTime() + outing.minutes * 60_000);
  return [
    "BEGIN:VEVENT",
    `UID:${outing.id}@riverside.example`,
    `DTSTAMP:${icalendarTime(start)}Z`,
    `DTSTART:${icalendarTime(start)}`,
    `DTEND:${icalendarTime(end)}`,
    "RRULE:FREQ=WEEKLY",
    `SUMMARY:${escape(outing.title)}`,
    `DESCRIPTION:${escape(outing.summary)}`,
    "LOCATION:Riverside boathouse",
    "END:VEVENT",
  ];
}

function escape(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&");
}
