// Image transforms with the shape of Cloudflare's images binding. A transformer
// only collects what is asked for; the host does it all at output().
import { host } from "../../web/js/host.js";
import { drain, viewOf } from "./body.js";

export class ImagesError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

export class ImagesBinding {
  #id;
  constructor(id) { this.#id = id; }

  async info(stream, options) {
    const bytes = await bytesOf(stream, options);
    return named(host.img_info(this.#id, bytes));
  }

  input(stream, options) { return new ImageTransformer(this.#id, stream, options); }

  text() { throw new ImagesError("IMAGES_TRANSFORM_ERROR 9520: text() is not supported by this runtime", 9520); }

  get hosted() { throw new ImagesError("IMAGES_TRANSFORM_ERROR 9520: hosted images are not offered by this platform", 9520); }
}

class ImageTransformer {
  #id;
  #source;
  #options;
  #steps = [];
  #consumed = false;
  constructor(id, source, options) {
    this.#id = id;
    this.#source = source;
    this.#options = options;
  }

  transform(options) {
    this.#steps.push({ transform: { ...options } });
    return this;
  }

  draw(image, options) {
    const drawn = image instanceof ImageTransformer ? image : new ImageTransformer(this.#id, image);
    this.#steps.push({ draw: drawn, options: { ...options } });
    return this;
  }

  /** The plan for the host; the images it needs are added to inputs. */
  async #plan(inputs) {
    if (this.#consumed) {
      throw new ImagesError("IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once", 9525);
    }
    this.#consumed = true;
    const input = inputs.push(await bytesOf(this.#source, this.#options)) - 1;
    const steps = [];
    for (const step of this.#steps) {
      steps.push(step.draw === undefined ? step : { draw: { plan: await step.draw.#plan(inputs), options: step.options } });
    }
    return { input, steps };
  }

  async output(options) {
    const inputs = [];
    const plan = JSON.stringify(await this.#plan(inputs));
    const result = await named(host.img_output(this.#id, plan, JSON.stringify({ ...options }), inputs));
    for (const warning of result.warnings) console.warn(`IMAGES: ${warning}`);
    return new ImageTransformationResult(result);
  }
}

class ImageTransformationResult {
  #data;
  #type;
  constructor({ data, type }) {
    this.#data = data;
    this.#type = type;
  }

  contentType() { return this.#type; }

  image(options) {
    const data = options?.encoding === "base64" ? new TextEncoder().encode(this.#data.toBase64()) : this.#data;
    return new Response(data).body;
  }

  response(options) {
    const headers = new Headers(options?.headers);
    headers.set("content-type", this.#type);
    return new Response(this.#data, { headers });
  }
}

/** The bytes of an image: of a stream, or of what is all there. */
async function bytesOf(source, options) {
  let bytes = viewOf(source);
  if (bytes === undefined && source instanceof Blob) bytes = await source.bytes();
  if (bytes === undefined && source instanceof ReadableStream) bytes = await drain(source);
  if (bytes === undefined) throw new TypeError("The image must be a ReadableStream, a Blob, an ArrayBuffer or a view of one");
  if (options?.encoding === undefined) return bytes;
  if (options.encoding !== "base64") throw new TypeError(`encoding ${String(options.encoding)} is not base64`);
  return Uint8Array.fromBase64(new TextDecoder().decode(bytes));
}

/** Makes ImagesErrors of the host's refusals. */
async function named(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.code === undefined) throw error;
    throw new ImagesError(error.message, error.code);
  }
}
