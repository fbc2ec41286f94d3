// As the package unenv has it, with the channels of the platform. Functions that start a thread are absent.
import { notImplemented, notImplementedClass } from "node:internal/absent";
import all from "unenv/node/worker_threads";

export * from "unenv/node/worker_threads";

export const { MessageChannel, MessagePort } = globalThis;
export const BroadcastChannel = notImplementedClass("worker_threads.BroadcastChannel");
export const Worker = notImplementedClass("worker_threads.Worker");
export const moveMessagePortToContext = notImplemented("worker_threads.moveMessagePortToContext");

export default { ...all, BroadcastChannel, MessageChannel, MessagePort, Worker, moveMessagePortToContext };
