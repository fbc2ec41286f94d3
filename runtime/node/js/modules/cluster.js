// As the package unenv has it, with the platform's additions.
import { notImplementedClass } from "node:internal/absent";

export * from "unenv/node/cluster";
export { default } from "unenv/node/cluster";
export const Cluster = notImplementedClass("cluster.Cluster");
