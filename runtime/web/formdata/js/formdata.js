// https://xhr.spec.whatwg.org/#interface-formdata
import { host } from "../../webidl/js/host.js";
import { File, blobBytes, fileOf, isBlob } from "./blob.js";
import { define, guarded, iterable, need } from "../../webidl/js/idl.js";
import { find, put, remove, valuesOf } from "../../webidl/js/pairs.js";

let listOf, setList;

/** Reports whether value is a FormData. */
export let isFormData;

export class FormData {
  #list = [];
  static {
    listOf = guarded("FormData", (form) => form.#list);
    setList = (form, list) => {
      form.#list = list;
    };
    isFormData = (value) => typeof value === "object" && value !== null && #list in value;
  }
  constructor(form = undefined) {
    if (form !== undefined)
      throw new TypeError("FormData constructor: there are no form elements here; call append for each field");
  }
  append(name, value, filename = undefined) {
    need(arguments.length, 2, "FormData.append");
    listOf(this).push(usv(name), entry(value, filename));
  }
  delete(name) {
    need(arguments.length, 1, "FormData.delete");
    remove(listOf(this), usv(name));
  }
  get(name) {
    need(arguments.length, 1, "FormData.get");
    const list = listOf(this),
      at = find(list, usv(name));
    return at < 0 ? null : list[at + 1];
  }
  getAll(name) {
    need(arguments.length, 1, "FormData.getAll");
    return valuesOf(listOf(this), usv(name));
  }
  has(name) {
    need(arguments.length, 1, "FormData.has");
    return this.get(name) !== null;
  }
  set(name, value, filename = undefined) {
    need(arguments.length, 2, "FormData.set");
    put(listOf(this), usv(name), entry(value, filename));
  }
}

function usv(value) {
  return `${value}`.toWellFormed();
}

function entry(value, filename) {
  const named = filename !== undefined;
  if (!isBlob(value)) {
    // browsers throw when it is named; the platform makes a text of it, and so do we
    if (named)
      console.warn(
        "FormData: the file name is left out, since the value is not a Blob: it becomes a text; for a file, give new Blob([value])",
      );
    return usv(value);
  }
  if (value instanceof File && !named) return value;
  return fileOf(
    blobBytes(value),
    named ? usv(filename) : "blob",
    value.type,
    value instanceof File ? value.lastModified : undefined,
  );
}

/** The multipart body of a form: its bytes and its content type. */
export function encodeForm(form) {
  const boundary = `----pages-${host.random_id()}`;
  const flat = [];
  for (let i = 0, list = listOf(form); i < list.length; i += 2) {
    const value = list[i + 1];
    if (typeof value === "string") flat.push(list[i], value, null, "");
    else flat.push(list[i], blobBytes(value), value.name.toWellFormed(), value.type || "application/octet-stream");
  }
  return [host.multipart_encode(boundary, flat), `multipart/form-data; boundary=${boundary}`];
}

/** The form that a body of this content type holds; a TypeError when it holds none. */
export function decodeForm(bytes, contentType) {
  const form = new FormData();
  const essence = contentType.split(";")[0].trim().toLowerCase();
  if (essence === "application/x-www-form-urlencoded") {
    setList(form, host.form_decode(bytes));
    return form;
  }
  if (essence !== "multipart/form-data") {
    throw new TypeError(
      `The body is not a form: its content type is ${contentType === "" ? "missing" : JSON.stringify(contentType)}`,
    );
  }
  const flat = host.multipart_decode(contentType, bytes),
    list = listOf(form);
  for (let i = 0; i < flat.length; i += 4) {
    const [name, value, filename, type] = [flat[i], flat[i + 1], flat[i + 2], flat[i + 3]];
    list.push(name, filename === null ? value : fileOf(value, filename, type));
  }
  return form;
}

export function install() {
  iterable(FormData, "FormData", listOf);
  define("FormData", FormData);
}
