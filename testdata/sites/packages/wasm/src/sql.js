import initSqlJs from "sql.js/dist/sql-wasm-browser.js";
import wasm from "sql.js/dist/sql-wasm-browser.wasm";

const SQL = initSqlJs({
  instantiateWasm(imports, done) {
    const instance = new WebAssembly.Instance(wasm, imports);
    done(instance);
    return instance.exports;
  },
});

export async function sql() {
  const { Database } = await SQL;
  const db = new Database();
  try {
    db.run("create table boats (id integer primary key, name text, price real)");
    db.run("begin");
    const insert = db.prepare("insert into boats (name, price) values (?, ?)");
    for (let n = 0; n < 1000; n++) insert.run([`boat ${n} ⛵`, n / 4]);
    insert.free();
    db.run("commit");
    const [{ values }] = db.exec("select count(*), sum(price), max(name) from boats");
    let refused = "";
    try {
      db.exec("select * from missing");
    } catch (error) {
      refused = error.message;
    }
    let made = "";
    try {
      db.create_function("double", (x) => x * 2); // makes a module of bytes, which no Worker may
    } catch (error) {
      made = error.name;
    }
    return { made, values: values[0].join(), refused, file: new TextDecoder().decode(db.export().subarray(0, 15)) };
  } finally {
    db.close();
  }
}
