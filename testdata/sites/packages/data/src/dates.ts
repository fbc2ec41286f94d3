import { addBusinessDays, differenceInCalendarDays, eachWeekOfInterval, format, formatDistance, formatRelative, intervalToDuration, isValid, parse, parseISO, startOfWeek } from "date-fns";
import { fr } from "date-fns/locale";
import { Feed } from "feed";
import ICAL from "ical.js";

/** https://date-fns.org/docs/Getting-Started */
export function dateFns() {
  const day = new Date(2014, 1, 11);
  return {
    format: format(day, "'Today is a' eeee, do MMMM yyyy"),
    french: format(day, "EEEE d MMMM yyyy", { locale: fr }),
    distance: formatDistance(new Date(2014, 6, 2), new Date(2015, 0, 1), { addSuffix: true }),
    relative: formatRelative(new Date(2014, 1, 8), day, { locale: fr }),
    parsed: parse("02/11/2014 5 PM", "MM/dd/yyyy h a", new Date(0)).toISOString(),
    invalid: isValid(parseISO("2014-02-31")),
    weeks: eachWeekOfInterval({ start: new Date(2014, 9, 6), end: new Date(2014, 10, 23) }).length,
    duration: intervalToDuration({ start: new Date(1929, 0, 15, 12, 0, 0), end: new Date(1968, 3, 4, 19, 5, 0) }),
    business: addBusinessDays(new Date(2014, 8, 1), 10).toISOString(),
    monday: startOfWeek(day, { weekStartsOn: 1 }).getDate(),
    days: differenceInCalendarDays(new Date(2012, 6, 2), new Date(2011, 6, 2)),
  };
}

/** https://github.com/kewisch/ical.js/wiki/Parsing-basics */
export function ical() {
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VEVENT", "UID:1@example.com", "SUMMARY:Déjà rowed\\, twice", "DTSTART;TZID=Europe/Berlin:20240229T100000", "DURATION:PT1H30M", "RRULE:FREQ=WEEKLY;BYDAY=TH;COUNT=3", "END:VEVENT", "END:VCALENDAR"];
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(lines.join("\r\n"))).getFirstSubcomponent("vevent")!);
  const starts: string[] = [];
  for (let iterator = event.iterator(), next = iterator.next(); next; next = iterator.next()) starts.push(next.toString());
  return { summary: event.summary, end: event.endDate.toString(), starts, long: event.duration.toSeconds() };
}

/** https://github.com/jpmonette/feed#readme */
export function feed() {
  const feed = new Feed({ title: "River & boats", description: "News", id: "https://example.com/", link: "https://example.com/", copyright: "2024", updated: new Date(0), generator: "pages" });
  feed.addItem({ title: "First <launch>", id: "https://example.com/1", link: "https://example.com/1?a=1&b=2", description: "It floats", date: new Date(864e5), author: [{ name: "Jane", email: "jane@example.com" }] });
  return { rss: feed.rss2(), atom: feed.atom1(), json: JSON.parse(feed.json1()) };
}
