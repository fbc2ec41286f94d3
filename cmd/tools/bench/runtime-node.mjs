// Prints how many milliseconds each function takes in Node.js, as JSON.
import { natives, run } from "./native.mjs";
import { pures } from "./pure.mjs";

const [samples, warm] = process.argv.slice(2).map(Number);

// The lower of the elapsed time and the processor time of this process, so that other work on the machine counts for no side.
async function once(all, name) {
  const before = process.cpuUsage(),
    began = performance.now();
  const times = await run(all, name);
  const took = performance.now() - began,
    { user, system } = process.cpuUsage(before);
  return Math.min(took, (user + system) / 1000 || took) / times;
}

const took = {};
for (const all of [natives, pures]) {
  for (const name of Object.keys(all)) {
    for (const end = performance.now() + warm; performance.now() < end; ) await run(all, name); // hot code is compiled
    const values = [];
    for (let i = 0; i < samples; i++) values.push(await once(all, name));
    took[name] = values.sort((a, b) => a - b)[samples >> 1];
  }
}
console.log(JSON.stringify(took));
