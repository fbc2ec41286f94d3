// As the package unenv has it, with the platform's additions.
import { notImplemented } from "node:internal/absent";

export * from "unenv/node/sqlite";
export { default } from "unenv/node/sqlite";
export const backup = notImplemented("sqlite.backup");
