// As the package unenv has it, with the platform's additions. Functions of V8 alone are absent.
import all from "unenv/node/v8";
import { notImplemented, notImplementedClass } from "node:internal/absent";
import { needString } from "node:internal/errors";

export * from "unenv/node/v8";

export const getCppHeapStatistics = notImplemented("v8.getCppHeapStatistics");
export const getHeapSnapshot = notImplemented("v8.getHeapSnapshot");
export const writeHeapSnapshot = notImplemented("v8.writeHeapSnapshot");
export const setHeapSnapshotNearHeapLimit = notImplemented("v8.setHeapSnapshotNearHeapLimit");
export const setFlagsFromString = notImplemented("v8.setFlagsFromString");
export const queryObjects = notImplemented("v8.queryObjects");
export const takeCoverage = notImplemented("v8.takeCoverage");
export const stopCoverage = notImplemented("v8.stopCoverage");
export const serialize = notImplemented("v8.serialize");
export const deserialize = notImplemented("v8.deserialize");
export const Serializer = notImplementedClass("v8.Serializer");
export const DefaultSerializer = notImplementedClass("v8.DefaultSerializer");
export const Deserializer = notImplementedClass("v8.Deserializer");
export const DefaultDeserializer = notImplementedClass("v8.DefaultDeserializer");
export const GCProfiler = notImplementedClass("v8.GCProfiler");

/** Whether text has no character over 255. */
export function isStringOneByteRepresentation(text) {
  needString(text, "content");
  return !/[^\x00-\xff]/.test(text);
}

export default {
  ...all,
  DefaultDeserializer,
  DefaultSerializer,
  Deserializer,
  GCProfiler,
  Serializer,
  deserialize,
  getCppHeapStatistics,
  getHeapSnapshot,
  isStringOneByteRepresentation,
  queryObjects,
  serialize,
  setFlagsFromString,
  setHeapSnapshotNearHeapLimit,
  stopCoverage,
  takeCoverage,
  writeHeapSnapshot,
};
