// As the package unenv has it, with the platform's additions.
import { notImplementedClass } from "node:internal/absent";

export * from "unenv/node/fs/promises";
export { default } from "unenv/node/fs/promises";
export const FileHandle = notImplementedClass("fs.FileHandle");
