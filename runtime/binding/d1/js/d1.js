// D1Database: a database with the shape of D1. The host runs the SQL and returns the result of each method; only the values to bind are
// checked here.
import { host } from "../../../web/webidl/js/host.js";
import { placed, position } from "../../../web/language/js/trace.js";
import { viewOf } from "../../hostcall/js/body.js";

const ALL = 0,
  RAW = 1,
  RAW_NAMED = 2,
  FIRST = 3,
  COLUMN = 4;

export class D1PreparedStatement {
  #on;
  constructor(on, statement, params) {
    this.#on = on;
    this.statement = statement;
    this.params = params;
  }

  bind(...values) {
    for (let at = 0; at < values.length; at++) values[at] = bindable(values[at]);
    return new D1PreparedStatement(this.#on, this.statement, values);
  }

  first(column) {
    return column === undefined ? query(this.#on, this, FIRST) : query(this.#on, this, COLUMN, `${column}`);
  }

  all() {
    return query(this.#on, this, ALL);
  }

  run() {
    return query(this.#on, this, ALL);
  }

  raw(options) {
    return query(this.#on, this, options?.columnNames ? RAW_NAMED : RAW);
  }
}

export class D1DatabaseSession {
  #on;
  #bookmark;
  constructor(id, bookmark) {
    this.#bookmark = bookmark;
    this.#on = {
      id,
      seen: () => {
        const next = host.db_bookmark(id);
        if (this.#bookmark === null || this.#bookmark < next) this.#bookmark = next;
      },
    };
  }

  prepare(query) {
    return new D1PreparedStatement(this.#on, query, []);
  }

  batch(statements) {
    return batch(this.#on, statements);
  }

  getBookmark() {
    return this.#bookmark;
  }
}

export class D1Database {
  #on;
  constructor(id) {
    this.#on = { id, seen: null };
  }

  prepare(query) {
    return new D1PreparedStatement(this.#on, query, []);
  }

  batch(statements) {
    return batch(this.#on, statements);
  }

  exec(query) {
    return ask(this.#on, () => host.db_exec(this.#on.id, textOf(query.trim())), identity);
  }

  withSession(constraint) {
    const given = constraint?.trim() ?? "";
    const bookmark = given === "" || given === "first-primary" || given === "first-unconstrained" ? null : given;
    return new D1DatabaseSession(this.#on.id, bookmark);
  }

  async dump() {
    throw new Error("D1_DUMP_ERROR: dump() is not available: copy the database file instead");
  }
}

function query(on, { statement, params }, shape, column) {
  let answer;
  try {
    answer = host.db_query(on.id, textOf(statement), params, shape, column);
  } catch (error) {
    return rejected(error);
  }
  if (answer instanceof Promise) return settleLater(on, answer, shape === ALL ? resultOf : identity);
  if (on.seen !== null) on.seen();
  return Promise.resolve(shape === ALL ? resultOf(answer) : answer);
}

// Any object with a statement and params will do: tracing libraries wrap the result of prepare().
function batch(on, statements) {
  return ask(
    on,
    () => {
      const flat = [];
      statements.map(({ statement, params }) => flat.push(textOf(statement), params)); // a Set has no map: it is refused
      return host.db_batch(on.id, flat);
    },
    resultsOf,
  );
}

function ask(on, call, make) {
  try {
    return settleLater(on, call(), make);
  } catch (error) {
    return rejected(error);
  }
}

/** The promise of the host's answer, converted. */
function settleLater(on, answer, make) {
  const here = position();
  return answer.then(
    (found) => {
      on.seen?.();
      return make(found);
    },
    (error) => {
      throw withCallStack(error, here);
    },
  );
}

function identity(answer) {
  return answer;
}

/** Makes a D1Result of the host's result; see Database.query in database.go. */
function resultOf(found) {
  const duration = found[1];
  return {
    success: true,
    meta: {
      served_by: "pages",
      served_by_primary: true,
      total_attempts: 1,
      timings: { sql_duration_ms: duration },
      duration,
      changes: found[2],
      last_row_id: found[3],
      changed_db: found[4],
      size_after: found[5],
      rows_read: found[6],
      rows_written: found[7],
    },
    results: found[0],
  };
}

function resultsOf(found) {
  return found.map(resultOf);
}

function rejected(error) {
  return Promise.reject(withCallStack(error, position()));
}

/** The error with the stack of the call, and with its cause. */
function withCallStack(error, here) {
  if (Object.hasOwn(error, "cause")) Object.defineProperty(error, "cause", { enumerable: false });
  return placed(error, here);
}

function textOf(sql) {
  if (typeof sql === "string") return sql;
  if (sql instanceof String) return `${sql}`;
  throw caused("D1_ERROR", `The SQL must be a string, not of type '${typeof sql}'`);
}

function caused(prefix, message) {
  return new Error(`${prefix}: ${message}`, { cause: new Error(message) });
}

function bindable(value) {
  switch (typeof value) {
    case "number":
    case "string":
      return value;
    case "boolean":
      return value ? 1 : 0;
    case "object": {
      if (value === null) return null;
      // Production takes the elements of a view for bytes, and finds none in a DataView.
      if (value instanceof DataView) throw caused("D1_TYPE_ERROR", "Type 'DataView' not supported: bind a Uint8Array");
      if (ArrayBuffer.isView(value) && !isBigInts(value)) return Uint8Array.from(/** @type {any} */ (value));
      if (!ArrayBuffer.isView(value) && viewOf(value) !== undefined) return viewOf(value).slice();
      if (Array.isArray(value) && value.every(isByte)) return new Uint8Array(value);
    }
  }
  throw caused("D1_TYPE_ERROR", `Type '${typeof value}' not supported for value '${String(value)}'`);
}

function isByte(n) {
  return typeof n === "number" && n >= 0 && n < 256;
}

function isBigInts(view) {
  return view instanceof BigInt64Array || view instanceof BigUint64Array;
}
