// Prints how many milliseconds each function takes in Node.js, as JSON.
import { natives, run } from "./native.mjs";
import { pures } from "./pure.mjs";

const took = {};
for (const all of [natives, pures]) {
  for (const name of Object.keys(all)) {
    await run(all, name); // warms up
    const began = process.hrtime.bigint();
    const times = await run(all, name);
    took[name] = Number(process.hrtime.bigint() - began) / 1e6 / times;
  }
}
console.log(JSON.stringify(took));
