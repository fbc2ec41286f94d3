import createDebug from "debug";
import LRU from "lru-cache";
import winston from "winston";
import Transport from "winston-transport";

/** https://github.com/winstonjs/winston#readme */
export async function logging() {
  const lines = [];
  class Keep extends Transport {
    log(info, callback) {
      lines.push(info[Symbol.for("message")]);
      callback();
    }
  }
  const logger = winston.createLogger({ level: "info", format: winston.format.json(), defaultMeta: { service: "user-service" }, transports: [new Keep()] });
  logger.info("Hello %s", "there", { n: 1 });
  logger.debug("not shown");
  logger.child({ requestId: "451" }).error("bad");
  await new Promise((resolve) => logger.on("finish", resolve).end());
  return { lines: lines.map((line) => JSON.parse(line)) };
}

/** https://github.com/isaacs/node-lru-cache/tree/v7.18.3#readme */
export function lru() {
  const cache = new LRU({ max: 2 });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  return { keys: [...cache.keys()], b: cache.get("b") ?? null };
}

/** https://github.com/debug-js/debug#readme */
export function debugging() {
  createDebug.enable("worker:*");
  const lines = [], log = createDebug("worker:a");
  log.log = (...args) => lines.push(args[0]);
  log("booting %o", "app");
  createDebug("other")("silent");
  return { lines: lines.length, has: lines[0].includes("booting"), enabled: createDebug.enabled("worker:x") };
}
