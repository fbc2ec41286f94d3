// What packages of dates and messages show in their documentation.
import { createIntl, createIntlCache } from "@formatjs/intl";
import { formatInTimeZone, fromZonedTime, toZonedTime } from "date-fns-tz";
import { de } from "date-fns/locale/de";
import dayjs from "dayjs";
import timezone from "dayjs/plugin/timezone.js";
import utc from "dayjs/plugin/utc.js";
import { DateTime, Duration, Info, Interval } from "luxon";

const instant = 1709211909123; // 2024-02-29T13:05:09.123Z

export function luxon() {
  const now = DateTime.fromMillis(instant, { zone: "Europe/Berlin" });
  return {
    full: now.setLocale("fr").toLocaleString(DateTime.DATETIME_FULL),
    huge: now.setLocale("de").toLocaleString(DateTime.DATE_HUGE),
    iso: now.setZone("America/New_York").toISO(),
    name: now.offsetNameLong,
    format: now.setLocale("es").toFormat("cccc, d LLLL yyyy HH:mm ZZZZ"),
    parsed: DateTime.fromFormat("mai 25 1982", "LLLL dd yyyy", { locale: "fr" }).toISODate(),
    months: Info.months("short", { locale: "pl" }).join(),
    relative: now.plus({ days: 3 }).setLocale("it").toRelative({ base: now }),
    human: Duration.fromObject({ hours: 2, minutes: 7 }, { locale: "nl" }).toHuman(),
    interval: Interval.fromDateTimes(now, now.plus({ days: 2 })).toLocaleString(DateTime.DATE_MED, { locale: "en-US" }),
    valid: [Info.isValidIANAZone("Asia/Kolkata"), Info.isValidIANAZone("Mars/Base")].join(),
  };
}

export function dateFns() {
  return {
    berlin: formatInTimeZone(instant, "Europe/Berlin", "yyyy-MM-dd HH:mm:ss zzz"),
    long: formatInTimeZone(instant, "America/New_York", "EEEE, d MMMM yyyy zzzz", { locale: de }),
    back: fromZonedTime("2014-06-25 10:00:00", "America/Los_Angeles").toISOString(),
    zoned: toZonedTime("2014-06-25T10:00:00.123Z", "Asia/Tokyo").getUTCHours(),
  };
}

export function days() {
  dayjs.extend(utc);
  dayjs.extend(timezone);
  return {
    toronto: dayjs.tz("2013-11-18 11:55", "America/Toronto").format(),
    zone: dayjs(instant).tz("Asia/Tokyo").format("YYYY-MM-DD HH:mm Z"),
    guess: dayjs.tz.guess(),
  };
}

export function messages() {
  const intl = createIntl({
    locale: "de-DE",
    messages: { cart: "{count, plural, =0 {Nichts} one {# Artikel} other {# Artikel}} für {price, number, ::currency/EUR}, {place, selectordinal, other {#.}} am {day, date, long}" },
  }, createIntlCache());
  return {
    cart: intl.formatMessage({ id: "cart" }, { count: 1234, price: 9.5, place: 2, day: instant }),
    list: intl.formatList(["Ich", "du", "wir"]),
    relative: intl.formatRelativeTime(-1, "day", { numeric: "auto" }),
    name: intl.formatDisplayName("TR", { type: "region" }),
    parts: intl.formatNumberToParts(1234.5).length,
    range: intl.formatDateTimeRange(instant, instant + 864e5),
  };
}
