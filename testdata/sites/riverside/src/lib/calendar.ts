// Days and times of the weekly programme. The club has one time zone, so a time
// is the text "HH:MM" and a day "YYYY-MM-DD". Calculations use UTC.

export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MONTHS = [
  "January", "February", "March", "April", "May", "June",
  "July", "August", "September", "October", "November", "December",
] as const;

const DAY_MS = 86_400_000;

/** The next day of an outing: today if it has not started yet. */
export function nextDay(weekday: number, starts: string, now: Date): string {
  const today = dayOf(now);
  const ahead = (weekday - now.getUTCDay() + 7) % 7;
  const missed = ahead === 0 && startOf(today, starts).getTime() <= now.getTime();
  return dayOf(new Date(Date.parse(today) + (missed ? 7 : ahead) * DAY_MS));
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export function startOf(day: string, starts: string): Date {
  return new Date(`${day}T${starts}:00Z`);
}

/** "Saturday 21 November" */
export function dayInWords(day: string): string {
  const at = new Date(day);
  return `${WEEKDAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

/** "20261121T090000", the local form of RFC 5545. */
export function icalendarTime(at: Date): string {
  return at.toISOString().slice(0, 19).replace(/[-:]/g, "");
}
