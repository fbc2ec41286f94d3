// As the package unenv has it, and what the platform has beside.
import { notImplemented } from "node:internal/absent";

export * from "unenv/node/sqlite";
export { default } from "unenv/node/sqlite";
export const backup = notImplemented("sqlite.backup");
