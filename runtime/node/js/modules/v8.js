// As the package unenv has it, and what the platform has beside.
import all from "unenv/node/v8";
import { notImplemented } from "node:internal/absent";

export * from "unenv/node/v8";
export const getCppHeapStatistics = notImplemented("v8.getCppHeapStatistics");
/** Whether text has no character over 255. */
export function isStringOneByteRepresentation(text) {
  return !/[^\x00-\xff]/.test(text);
}
export default { ...all, getCppHeapStatistics, isStringOneByteRepresentation };
