// Workers' HTMLRewriter. Go reads the document and stops at each token that has
// a handler; here are the handlers, and the objects that they see.
import { host } from "../../webidl/js/host.js";
import { HostBody, hasBody, takeBody, unusable } from "../../fetch/js/body.js";
import { decode, encode } from "../../textcodec/js/encoding.js";
import { get } from "../../fetch/js/headers.js";
import { define, dress, guarded, need } from "../../webidl/js/idl.js";
import { head, isResponse, rebodied } from "../../fetch/js/response.js";
import { asText, isStream, streamOf } from "../../streams/js/streams.js";

const ELEMENT = { element: 1, comments: 2, text: 4 },
  DOCUMENT = { doctype: 8, comments: 2, text: 4, end: 16 };

let stateOf;

export class HTMLRewriter {
  #state = { list: [], handlers: [] }; // list: selector or null, flags, …
  static {
    stateOf = guarded("HTMLRewriter", (rewriter) => rewriter.#state);
  }
  on(selector, handlers) {
    need(arguments.length, 2, "HTMLRewriter.on");
    const state = stateOf(this),
      text = `${selector}`;
    host.html_selector(text);
    add(state, text, pick(handlers, ELEMENT, "ElementContentHandlers"), ELEMENT);
    return this;
  }
  onDocument(handlers) {
    need(arguments.length, 1, "HTMLRewriter.onDocument");
    add(stateOf(this), null, pick(handlers, DOCUMENT, "DocumentContentHandlers"), DOCUMENT);
    return this;
  }
  transform(response) {
    const { list, handlers } = stateOf(this);
    if (!isResponse(response))
      throw new TypeError("Failed to execute 'transform' on 'HTMLRewriter': parameter 1 is not of type 'Response'.");
    const body = head(response);
    if (!hasBody(body)) return response;
    if (unusable(body))
      throw new TypeError("HTMLRewriter.transform: the body of the response has already been used or is locked");
    const id = host.html_open(list, get(body.list, "content-type") ?? "");
    const run = new Run(id, handlers.slice(), takeBody(body));
    return rebodied(
      response,
      streamOf(
        () => run.next(),
        (reason) => run.cancel(reason),
      ),
      handlers.length === 0,
    );
  }
}

// The callbacks of the author's object, bound to it.
function pick(given, kinds, what) {
  if (given === null || given === undefined) given = {};
  if (typeof given !== "object" && typeof given !== "function") {
    const [method, n] = kinds === ELEMENT ? ["on", 2] : ["onDocument", 1];
    throw new TypeError(`Failed to execute '${method}' on 'HTMLRewriter': parameter ${n} is not of type '${what}'.`);
  }
  const picked = {};
  for (const name of Object.keys(kinds)) {
    const callback = given[name];
    if (callback === undefined) continue;
    if (typeof callback !== "function")
      throw new TypeError(
        `Incorrect type for the '${name}' field on '${what}': the provided value is not of type 'function'.`,
      );
    picked[name] = callback.bind(given);
  }
  return picked;
}

function add(state, selector, picked, kinds) {
  let flags = 0;
  for (const name of Object.keys(picked)) flags |= kinds[name];
  state.list.push(selector, flags);
  state.handlers.push(picked);
}

const NAMES = ["", "element", "comments", "text", "doctype", "", "end"];
const ENDTAG = 5,
  STREAM = 7;

// The state of one document.
class Run {
  #id;
  #handlers;
  #source; // the unread rest, from takeBody
  #reader = null; // of the source, when it is a stream
  #insert = null; // [reader, whether it is HTML] of a stream that is put in
  #waits = false; // whether a handler is waited for
  #edit = null; // a promise of its edit, while the text before its token goes out
  #parts = { streams: new Map(), callbacks: new Map(), last: 0 }; // by number
  constructor(id, handlers, source) {
    this.#id = id;
    this.#handlers = handlers;
    this.#source = source;
  }
  // The next piece of output; null at the end.
  async next() {
    try {
      return await this.#next();
    } catch (error) {
      this.cancel(error);
      throw error;
    }
  }
  async #next() {
    let edit = null;
    if (this.#edit !== null) {
      edit = await this.#edit;
      this.#edit = null;
    }
    for (;;) {
      if (this.#insert !== null) {
        const piece = await this.#inserted();
        if (piece !== null) return piece;
      }
      const step = host.html_step(this.#id, edit);
      edit = null;
      if (step === false) {
        host.html_close(this.#id);
        return null;
      }
      if (step === null) {
        if (!(await this.#read())) host.html_end(this.#id);
      } else if (step instanceof Uint8Array) {
        return step;
      } else if (step[0] === STREAM) {
        this.#insert = [this.#parts.streams.get(step[2]).getReader(), step[3], null];
        this.#parts.streams.delete(step[2]);
      } else {
        const token = tokenOf(step, this.#parts);
        const wanted =
          step[0] === ENDTAG ? this.#endTag(step[1], step[3], token) : this.#token(NAMES[step[0]], step[1], token);
        if (this.#waits) await undefined; // most are settled after one turn
        const piece = this.#waits ? host.html_flush(this.#id) : null;
        if (piece !== null) {
          this.#edit = wanted;
          wanted.catch(() => {}); // the next chunk reports it
          return piece;
        }
        edit = await wanted;
      }
    }
  }
  async #token(name, which, token) {
    try {
      for (const at of which) {
        const result = this.#handlers[at][name](token);
        if (result !== undefined) await this.#wait(result);
      }
      return editOf(token);
    } finally {
      expire(token);
    }
  }
  async #wait(result) {
    this.#waits = true;
    try {
      await result;
    } finally {
      this.#waits = false;
    }
  }
  // The first past callbacks belong to elements inside one whose end tag has an edit.
  async #endTag(which, past, token) {
    try {
      for (let at = 0; at < which.length; at++) {
        if (at === past) undo(token);
        const callback = this.#parts.callbacks.get(which[at]);
        this.#parts.callbacks.delete(which[at]);
        const result = callback(token);
        if (result !== undefined) await this.#wait(result);
      }
      if (which.length === past) undo(token);
      return editOf(token);
    } finally {
      expire(token);
    }
  }
  // Gives Go more of the source; false at its end.
  async #read() {
    const source = this.#source;
    if (source === null) return false;
    if (source instanceof HostBody) return source.read((body) => host.html_read(this.#id, body));
    if (isStream(source)) {
      this.#reader ??= source.getReader();
      const { done, value } = await this.#reader.read();
      if (!done) host.html_write(this.#id, asText(value));
      return !done;
    }
    this.#source = null;
    host.html_write(this.#id, source);
    return true;
  }
  async #inserted() {
    const [reader, isHTML] = this.#insert;
    const { done, value } = await reader.read();
    if (done) {
      this.#insert = null;
      return null;
    }
    const bytes = asText(value);
    return host.html_encode(this.#id, isHTML ? bytes : encode(host.html_escape(decode(bytes))));
  }
  cancel(reason) {
    host.html_close(this.#id);
    const source = this.#source;
    this.#source = null;
    if (this.#reader !== null) this.#reader.cancel(reason).catch(() => {});
    else if (source !== null && isStream(source)) source.cancel(reason).catch(() => {});
    else if (source instanceof HostBody) host.body_cancel(source.handle);
    this.#insert?.[0].cancel(reason).catch(() => {});
    for (const stream of this.#parts.streams.values()) stream.cancel(reason).catch(() => {});
  }
}

const STALE =
  "This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.";

// The edit that Go applies: see editStart, around and editEnd there.
const BEFORE = 0,
  AFTER = 1,
  REPLACEMENT = 2,
  REMOVED = 3,
  NAME = 4,
  TEXT = 4,
  ATTRIBUTES = 5,
  APPEND = 6,
  AFTER_END = 7,
  END_REMOVED = 8,
  EMPTIED = 9,
  CALLBACK = 10;

let contentOf, expire;

// The base of all tokens: state, null once their handlers are done.
class Token {
  #state;
  static {
    contentOf = guarded("content token", (token) => {
      if (token.#state === null) return null;
      return token.#state;
    });
    expire = (token) => {
      token.#state = null;
    };
  }
  constructor(state) {
    this.#state = state;
  }
}

function live(token) {
  const state = contentOf(token);
  if (state === null) throw new TypeError(STALE);
  return state;
}

function editOf(token) {
  return contentOf(token).edit;
}

// A place of the edit, made when it is first written to.
function change(state, at, value) {
  const edit = (state.edit ??= [null, null, null, false, null, null, null, null, false, false, 0]);
  edit[at] = value;
}

// Forgets the edits of an end tag but its name.
function undo(token) {
  const { edit } = contentOf(token);
  if (edit === null) return;
  edit[BEFORE] = edit[AFTER] = null;
  edit[REMOVED] = false;
}

function insert(token, at, args, first, method) {
  const state = live(token);
  refuseStream(token, args[0]);
  if (args.length === 0)
    throw new TypeError(
      `Failed to execute '${method}' on '${token[Symbol.toStringTag]}': parameter 1 is not of type 'string or ReadableStream or Response'.`,
    );
  const item = [contentValue(args[0], state.parts), isHTML(args[1], token, method)];
  const list = state.edit?.[at] ?? [];
  if (first) list.unshift(...item);
  else list.push(...item); // in place: a handler may write in small pieces
  change(state, at, list);
  return token;
}

function isHTML(options, token, method) {
  if (options === undefined || options === null) return false;
  if (typeof options !== "object" && typeof options !== "function") {
    throw new TypeError(
      `Failed to execute '${method}' on '${token[Symbol.toStringTag]}': parameter 2 is not of type 'ContentOptions'.`,
    );
  }
  return !!options.html;
}

// Text, or the number of a stream.
function contentValue(value, parts) {
  let body = value;
  if (isResponse(value)) {
    const state = head(value);
    if (unusable(state))
      throw new TypeError("HTMLRewriter: the body of the response has already been used or is locked");
    body = takeBody(state);
    if (body === null) return "";
    if (body instanceof Uint8Array) return decode(body);
    if (body instanceof HostBody) body = body.stream();
  }
  if (!isStream(body)) return `${body}`.toWellFormed();
  if (body.locked) throw new TypeError("This ReadableStream is currently locked to a reader.");
  const id = ++parts.last;
  parts.streams.set(id, body);
  return id;
}

// The platform takes text alone beside comments, in their place and at the end of a document.
function refuseStream(token, content) {
  if ((token instanceof Comment || token instanceof DocumentEnd) && (isStream(content) || isResponse(content))) {
    throw new TypeError(
      `${token[Symbol.toStringTag]}: a ReadableStream or Response is not taken as content here; give its text`,
    );
  }
}

// Removes the content of a place, and puts the content of args there; without args, earlier insertions stay.
function drop(token, args, method) {
  const state = live(token);
  if (args !== undefined) {
    refuseStream(token, args[0]);
    change(state, REPLACEMENT, [contentValue(args[0], state.parts), isHTML(args[1], token, method)]);
  }
  change(state, REMOVED, true);
  return state;
}

class Element extends Token {
  get tagName() {
    return live(this).name;
  }
  set tagName(value) {
    const state = live(this),
      name = `${value}`;
    checkName(name, "tag");
    if (!/^[A-Za-z]/.test(name))
      throw new TypeError(
        "Parser error: The first character of the tag name should be an ASCII alphabetical character.",
      );
    change(state, NAME, name);
    state.name = lowered(name);
  }
  get attributes() {
    return new AttributesIterator(live(this));
  }
  get removed() {
    return live(this).removed || !!live(this).edit?.[REMOVED];
  }
  get namespaceURI() {
    return live(this).uri;
  }
  getAttribute(name) {
    need(arguments.length, 1, "Element.getAttribute");
    const { attributes } = live(this),
      at = find(attributes, name);
    return at < 0 ? null : attributes[at + 1];
  }
  hasAttribute(name) {
    need(arguments.length, 1, "Element.hasAttribute");
    return find(live(this).attributes, name) >= 0;
  }
  setAttribute(name, value) {
    need(arguments.length, 2, "Element.setAttribute");
    const state = live(this),
      { attributes } = state,
      key = lowered(`${name}`),
      text = `${value}`.toWellFormed();
    checkName(key, "attribute");
    const at = find(attributes, key);
    if (at < 0) attributes.push(key, text, -1);
    else attributes.splice(at, 3, key, text, sameName(attributes[at + 2]));
    change(state, ATTRIBUTES, attributes);
    state.changes++;
    return this;
  }
  removeAttribute(name) {
    need(arguments.length, 1, "Element.removeAttribute");
    const state = live(this),
      { attributes } = state,
      key = lowered(`${name}`),
      kept = [];
    for (let at = 0; at < attributes.length; at += 3) {
      // to its end: one may occur twice
      if (attributes[at] !== key) kept.push(attributes[at], attributes[at + 1], attributes[at + 2]);
    }
    if (kept.length < attributes.length) change(state, ATTRIBUTES, (state.attributes = kept));
    state.changes++;
    return this;
  }
  before(content, options) {
    return insert(this, BEFORE, arguments, false, "before");
  }
  after(content, options) {
    return insert(this, live(this).holds ? AFTER_END : AFTER, arguments, true, "after");
  }
  prepend(content, options) {
    return live(this).holds ? insert(this, AFTER, arguments, true, "prepend") : this;
  }
  append(content, options) {
    return live(this).holds ? insert(this, APPEND, arguments, false, "append") : this;
  }
  replace(content, options) {
    empty(drop(this, arguments, "replace"), true);
    return this;
  }
  remove() {
    empty(drop(this), true);
    return this;
  }
  removeAndKeepContent() {
    const state = drop(this);
    if (state.holds) change(state, END_REMOVED, true);
    return this;
  }
  setInnerContent(content, options) {
    const state = live(this);
    if (!state.holds) return this;
    empty(state, false);
    return insert(this, AFTER, arguments, true, "setInnerContent");
  }
  onEndTag(callback) {
    const state = live(this);
    if (typeof callback !== "function")
      throw new TypeError("Failed to execute 'onEndTag' on 'Element': parameter 1 is not of type 'function'.");
    if (!state.holds) throw new TypeError("Parser error: No end tag.");
    const id = state.edit?.[CALLBACK] || ++state.parts.last;
    state.parts.callbacks.set(id, callback);
    change(state, CALLBACK, id);
  }
}

// Leaves out the content of an element, and insertions into it.
function empty(state, endToo) {
  if (!state.holds) return;
  change(state, EMPTIED, true);
  change(state, AFTER, null);
  if (state.edit[APPEND] !== null) change(state, APPEND, []);
  if (endToo) change(state, END_REMOVED, true);
}

function checkName(name, what) {
  if (name === "") throw new TypeError(`Parser error: ${what === "tag" ? "Tag" : "Attribute"} name can't be empty.`);
  const bad = /[\t\n\f\r />=]/.exec(name);
  if (bad !== null && (bad[0] !== "=" || what === "attribute"))
    throw new TypeError(`Parser error: \`${bad[0]}\` character is forbidden in the ${what} name`);
}

// Attributes are names, values and indexes in the document's tag in turn.
// The index of an attribute with a new value, and its name in the original case, viewBox and not viewbox.
function sameName(index) {
  return index < 0 ? index : -2 - index;
}

// HTML ignores case only in letters of ASCII.
function lowered(name) {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function find(attributes, name) {
  const key = lowered(`${name}`);
  for (let at = 0; at < attributes.length; at += 3) if (attributes[at] === key) return at;
  return -1;
}

// An iterator ends with the next setAttribute or removeAttribute of its element, as on the platform.
class AttributesIterator {
  #of;
  #changes;
  #at = 0;
  constructor(state) {
    this.#of = state;
    this.#changes = state.changes;
  }
  next() {
    const at = this.#at,
      { attributes, changes } = this.#of;
    if (changes !== this.#changes)
      throw new Error(
        "The attributes of this element have been modified during iteration. You must create a new iterator after modifying attributes.",
      );
    if (at >= attributes.length) return { value: undefined, done: true };
    this.#at = at + 3;
    return { value: [attributes[at], attributes[at + 1]], done: false };
  }
  [Symbol.iterator]() {
    return this;
  }
}

Object.setPrototypeOf(AttributesIterator.prototype, Iterator.prototype);

class EndTag extends Token {
  get name() {
    return live(this).name;
  }
  set name(value) {
    const state = live(this);
    state.name = `${value}`;
    change(state, NAME, state.name);
  }
  before(content, options) {
    return insert(this, BEFORE, arguments, false, "before");
  }
  after(content, options) {
    return insert(this, AFTER, arguments, true, "after");
  }
  remove() {
    drop(this);
    return this;
  }
}

class Comment extends Token {
  get text() {
    return live(this).text;
  }
  set text(value) {
    const state = live(this),
      text = `${value}`.toWellFormed();
    if (/--!?>|^-?>/.test(text))
      throw new TypeError("Parser error: Comment text shouldn't contain a comment-closing sequence.");
    state.text = text;
    change(state, TEXT, text);
  }
  get removed() {
    return !!live(this).edit?.[REMOVED];
  }
  before(content, options) {
    return insert(this, BEFORE, arguments, false, "before");
  }
  after(content, options) {
    return insert(this, AFTER, arguments, true, "after");
  }
  replace(content, options) {
    drop(this, arguments, "replace");
    return this;
  }
  remove() {
    drop(this);
    return this;
  }
}

class Text extends Token {
  get text() {
    return live(this).text;
  }
  get lastInTextNode() {
    return live(this).last;
  }
  get removed() {
    return !!live(this).edit?.[REMOVED];
  }
  before(content, options) {
    return insert(this, BEFORE, arguments, false, "before");
  }
  after(content, options) {
    return insert(this, AFTER, arguments, true, "after");
  }
  replace(content, options) {
    drop(this, arguments, "replace");
    return this;
  }
  remove() {
    drop(this);
    return this;
  }
}

class Doctype extends Token {
  get name() {
    return live(this).name;
  }
  get publicId() {
    return live(this).publicId;
  }
  get systemId() {
    return live(this).systemId;
  }
}

class DocumentEnd extends Token {
  append(content, options) {
    return insert(this, BEFORE, arguments, false, "append");
  }
}

// The object of an event; parts numbers streams and callbacks.
function tokenOf(event, parts) {
  const [kind, , first, second, third, removed, holds] = event;
  switch (kind) {
    case 1: {
      const attributes = [];
      for (let at = 0; at < third.length; at += 2) attributes.push(third[at], third[at + 1], at / 2);
      return new Element({ edit: null, parts, name: first, uri: second, attributes, changes: 0, removed, holds });
    }
    case 2:
      return new Comment({ edit: null, parts, text: first });
    case 3:
      return new Text({ edit: null, parts, text: first, last: second });
    case 4:
      return new Doctype({ edit: null, name: first, publicId: second, systemId: third });
    case ENDTAG:
      return new EndTag({ edit: null, parts, name: first });
    default:
      return new DocumentEnd({ edit: null, parts });
  }
}

export function install() {
  define("HTMLRewriter", HTMLRewriter);
  for (const [name, cls] of Object.entries({
    Element,
    EndTag,
    Comment,
    Text,
    Doctype,
    DocumentEnd,
    AttributesIterator,
  }))
    dress(name, cls);
}
