import { Effect, Schedule } from "effect";
import i18next from "i18next";
import { produce, produceWithPatches, enablePatches, enableMapSet } from "immer";
import { atom, computed, map, onMount } from "nanostores";
import { filter, firstValueFrom, from, interval, map as mapped, mergeMap, of, retry, scan, take, throwError, toArray } from "rxjs";

enablePatches();
enableMapSet();

/** https://immerjs.github.io/immer/ */
export function immer() {
  const base = [{ title: "Learn TypeScript", done: true }, { title: "Try Immer", done: false }];
  const next = produce(base, (draft) => {
    draft[1].done = true;
    draft.push({ title: "Tweet about it", done: false });
  });
  const [counted, patches, inverse] = produceWithPatches(new Map([["a", 1]]), (draft) => void draft.set("b", 2));
  return { next, kept: base.length, shared: base[0] === next[0], frozen: Object.isFrozen(next), size: counted.size, patches, inverse };
}

/** https://github.com/nanostores/nanostores#readme */
export function nanoStores() {
  const $users = atom<{ name: string; admin: boolean }[]>([]), seen: number[] = [];
  const $admins = computed($users, (users) => users.filter((user) => user.admin));
  const $profile = map({ name: "anonymous" });
  let mounted = 0;
  onMount($users, () => void mounted++);
  const stop = $admins.subscribe((admins) => void seen.push(admins.length));
  $users.set([{ name: "Jane", admin: true }, { name: "Bob", admin: false }]);
  $profile.setKey("name", "Kazimir");
  stop();
  return { seen, mounted, profile: $profile.get() };
}

/** https://rxjs.dev/guide/overview */
export async function rxjs() {
  let tries = 0;
  const flaky = of(1).pipe(mergeMap((n) => (++tries < 3 ? throwError(() => new Error("again")) : of(n))), retry(5));
  return {
    sums: await firstValueFrom(from([1, 2, 3, 4]).pipe(filter((n) => n % 2 === 0), scan((sum, n) => sum + n, 0), toArray())),
    ticks: await firstValueFrom(interval(2).pipe(take(3), mapped((n) => n * 10), toArray())),
    flaky: [await firstValueFrom(flaky), tries],
  };
}

/** https://effect.website/docs/getting-started/introduction/ */
export async function effect() {
  const divide = (a: number, b: number) => (b === 0 ? Effect.fail(new Error("cannot divide by zero")) : Effect.succeed(a / b));
  let tries = 0;
  const flaky = Effect.suspend(() => (++tries < 3 ? Effect.fail("again") : Effect.succeed(tries)));
  const program = Effect.gen(function* () {
    const [a, b] = yield* Effect.all([divide(10, 2), divide(9, 3)], { concurrency: 2 });
    yield* Effect.sleep("2 millis");
    return a + b;
  });
  return {
    sum: await Effect.runPromise(program),
    caught: Effect.runSync(divide(1, 0).pipe(Effect.catch((error: Error) => Effect.succeed(error.message)))),
    retried: await Effect.runPromise(Effect.retry(flaky, Schedule.recurs(5))),
    slow: await Effect.runPromise(Effect.never.pipe(Effect.timeoutOption("3 millis"), Effect.map((o) => o._tag))),
  };
}

/** https://www.i18next.com/overview/getting-started */
export async function translated() {
  const i18n = i18next.createInstance();
  await i18n.init({
    lng: "pl-PL", fallbackLng: "en",
    resources: {
      en: { translation: { key: "hello {{name}}", only: "in English" } },
      pl: { translation: { key: "cześć {{name}}", boat_one: "{{count}} łódź", boat_few: "{{count}} łodzie", boat_many: "{{count}} łodzi", price: "{{n, number(minimumFractionDigits: 2)}}" } },
    },
  });
  const t = i18n.t;
  return { key: t("key", { name: "<b>" }), boats: [1, 3, 5].map((count) => t("boat", { count })), fallback: t("only"), price: t("price", { n: 1234.5 }), missing: t("no.such"), dir: i18n.dir("ar") };
}
