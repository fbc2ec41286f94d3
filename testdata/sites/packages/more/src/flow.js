// What the packages' own documentation shows first. workerd.json has what workerd gave.
import EventEmitter3 from "eventemitter3";
import pLimit from "p-limit";
import PQueue from "p-queue";
import pRetry, { AbortError } from "p-retry";
import Bottleneck from "bottleneck";
import { List, Map as IMap, fromJS, Record as IRecord, Seq } from "immutable";
import { observable, autorun, makeAutoObservable, runInAction, computed, when } from "mobx";
import { configureStore, createSlice, createAsyncThunk, createEntityAdapter } from "@reduxjs/toolkit";
import { createStore } from "zustand/vanilla";
import { createMachine, createActor, assign, fromPromise, setup } from "xstate";
import DataLoader from "dataloader";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Container, injectable, inject } from "inversify";
import "reflect-metadata";
import { answering } from "./answer.js";

const topics = {
  flow: async () => {
    const e = new EventEmitter3(),
      got = [];
    e.on("x", (v) => got.push(v));
    e.once("x", (v) => got.push(-v));
    e.emit("x", 1);
    e.emit("x", 2);
    let active = 0,
      top = 0;
    const l = pLimit(2);
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        l(async () => {
          top = Math.max(top, ++active);
          await new Promise((f) => setTimeout(f, 2));
          active--;
        }),
      ),
    );
    const q = new PQueue({ concurrency: 1 });
    const order = [];
    q.add(async () => order.push("low"), { priority: 0 });
    q.add(async () => order.push("a"), { priority: 1 });
    q.add(async () => order.push("b"), { priority: 5 });
    await q.onIdle();
    let tries = 0;
    const r = await pRetry(
      async (n) => {
        tries = n;
        if (n < 3) throw new Error("x");
        return "done";
      },
      { retries: 5, minTimeout: 1 },
    );
    const ab = await pRetry(
      () => {
        throw new AbortError("stop");
      },
      { retries: 3, minTimeout: 1 },
    ).catch((x) => x.message);
    const b = new Bottleneck({ maxConcurrent: 1, minTime: 1 });
    const bn = await Promise.all([1, 2].map((n) => b.schedule(async () => n * 2)));
    return [got, top, order, tries, r, ab, bn];
  },
  immutable: () => {
    const m = IMap({ a: 1, b: 2, c: 3 });
    const R = IRecord({ a: 1, b: 2 });
    return [
      m.set("b", 50).get("b"),
      List([1, 2]).push(3).unshift(0).toJS(),
      fromJS({ a: { b: [10, 20] } })
        .updateIn(["a", "b", 1], (x) => x + 1)
        .toJS(),
      m.equals(
        IMap([
          ["c", 3],
          ["b", 2],
          ["a", 1],
        ]),
      ),
      Seq([1, 2, 3, 4])
        .filter((x) => x % 2)
        .map((x) => x * x)
        .toArray(),
      new R({ b: 3 }).toString(),
      fromJS({ x: [1, { y: 2 }] }).hashCode(),
    ];
  },
  mobx: async () => {
    class T {
      n = 1;
      constructor() {
        makeAutoObservable(this);
      }
      get d() {
        return this.n * 2;
      }
      *f() {
        this.n = yield Promise.resolve(7);
      }
    }
    const t = new T(),
      seen = [];
    const stop = autorun(() => seen.push(t.d));
    t.n++;
    await t.f();
    stop();
    t.n = 9;
    const o = observable({ list: [1] });
    const c = computed(() => o.list.length);
    runInAction(() => o.list.push(2));
    setTimeout(() => runInAction(() => o.list.push(3)), 1);
    await when(() => o.list.length === 3);
    return [seen, c.get()];
  },
  redux: async () => {
    const s = createSlice({
      name: "c",
      initialState: { v: 0, l: [] },
      reducers: {
        inc: (st, a) => {
          st.v += a.payload;
          st.l.push({ id: st.v });
        },
      },
      extraReducers: (b) =>
        b.addCase("x/fulfilled", (st, a) => {
          st.v = a.payload;
        }),
    });
    const th = createAsyncThunk("x", async (n, { rejectWithValue }) => (n > 5 ? rejectWithValue("big") : n * 2));
    const store = configureStore({ reducer: s.reducer });
    store.dispatch(s.actions.inc(3));
    await store.dispatch(th(4));
    const bad = await store.dispatch(th(9));
    const ad = createEntityAdapter({ sortComparer: (a, b) => a.n - b.n });
    return [
      store.getState(),
      bad.type,
      bad.payload,
      Object.isFrozen(store.getState().l),
      ad.upsertMany(ad.getInitialState(), [
        { id: 1, n: 2 },
        { id: 2, n: 1 },
      ]),
    ];
  },
  zustand: () => {
    const st = createStore((set, get) => ({ bears: 0, inc: () => set((s) => ({ bears: s.bears + 1 })) }));
    const seen = [];
    st.subscribe((s, p) => seen.push([p.bears, s.bears]));
    st.getState().inc();
    st.getState().inc();
    return seen;
  },
  xstate: async () => {
    const m = setup({ actors: { load: fromPromise(async ({ input }) => input * 2) } }).createMachine({
      context: { n: 1 },
      initial: "idle",
      states: {
        idle: { on: { GO: "busy" } },
        busy: {
          invoke: {
            src: "load",
            input: ({ context }) => context.n + 1,
            onDone: { target: "done", actions: assign({ n: ({ event }) => event.output }) },
          },
          after: { 5000: "idle" },
        },
        done: { type: "final" },
      },
    });
    const a = createActor(m),
      seen = [];
    a.subscribe((s) => seen.push(s.value));
    a.start();
    a.send({ type: "GO" });
    await new Promise((f) => setTimeout(f, 20));
    return [seen, a.getSnapshot().context, a.getSnapshot().status];
  },
  dataloader: async () => {
    const calls = [];
    const l = new DataLoader(async (k) => {
      calls.push([...k]);
      return k.map((x) => (x < 0 ? new Error("neg") : x * 2));
    });
    const r = await Promise.all([l.load(1), l.load(2), l.load(1)]);
    const e = await l.load(-1).catch((x) => x.message);
    return [r, e, calls];
  },
  limiter: async () => {
    const l = new RateLimiterMemory({ points: 2, duration: 5 });
    await l.consume("a");
    const two = await l.consume("a");
    const three = await l.consume("a").catch((e) => e.remainingPoints);
    return [two.remainingPoints, two.consumedPoints, three];
  },
  inversify: () => {
    const c = new Container();
    class W {
      hit() {
        return "hit";
      }
    }
    class N {
      constructor(w) {
        this.w = w;
      }
    }
    injectable()(W);
    injectable()(N);
    inject("W")(N, undefined, 0);
    c.bind("W").to(W);
    c.bind("N").to(N).inSingletonScope();
    return [c.get("N").w.hit(), c.get("N") === c.get("N")];
  },
};

export default answering(topics);
