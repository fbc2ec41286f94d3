// node validate.cjs NODE_MODULES SCHEMA FILE…: validates every file with ajv and
// prints the milliseconds this took, from reading the first file on.
const fs = require("node:fs");
const path = require("node:path");

const [modules, schema, ...files] = process.argv.slice(2);
const Ajv = require(path.join(modules, "ajv")).default;
const formats = require(path.join(modules, "ajv-formats")).default;

const ajv = new Ajv({ allErrors: true, strict: false });
formats(ajv);
const validate = ajv.compile(JSON.parse(fs.readFileSync(schema, "utf8")));

const began = process.hrtime.bigint();
for (const file of files) {
  if (!validate(JSON.parse(fs.readFileSync(file, "utf8")))) {
    console.error(file, ajv.errorsText(validate.errors));
    process.exit(1);
  }
}
console.log(Number(process.hrtime.bigint() - began) / 1e6);
