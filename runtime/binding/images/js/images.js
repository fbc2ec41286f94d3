// Image transforms with the shape of Cloudflare's images binding. A transformer
// only collects the operations; the host runs them all at output().
import { host } from "../../../web/webidl/js/host.js";
import { placed, position } from "../../../web/language/js/trace.js";
import { fromBase64, toBase64 } from "../../hostcall/js/binary.js";
import { drain, viewOf } from "../../hostcall/js/body.js";

export class ImagesError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

export class ImagesBinding {
  #id;
  constructor(id) {
    this.#id = id;
  }

  async info(stream, options) {
    const here = position(),
      bytes = await bytesOf(stream, options);
    return asImagesErrors(host.img_info(this.#id, bytes), here);
  }

  input(stream, options) {
    return new ImageTransformer(this.#id, stream, options);
  }

  text() {
    throw new ImagesError("IMAGES_TRANSFORM_ERROR 9520: text() is not supported by this runtime", 9520);
  }

  get hosted() {
    throw new ImagesError("IMAGES_TRANSFORM_ERROR 9520: hosted images are not offered by this platform", 9520);
  }
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
    drawn.#consume();
    this.#steps.push({ draw: drawn, options: { ...options } });
    return this;
  }

  #consume() {
    if (this.#consumed) {
      throw new ImagesError(
        "IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once",
        9525,
      );
    }
    this.#consumed = true;
  }

  /** The plan for the host; the images it needs are added to inputs. */
  async #plan(inputs) {
    const input = inputs.push(await bytesOf(this.#source, this.#options)) - 1;
    const steps = [];
    for (const step of this.#steps) {
      steps.push(
        step.draw === undefined ? step : { draw: { plan: await step.draw.#plan(inputs), options: step.options } },
      );
    }
    return { input, steps };
  }

  async output(options) {
    this.#consume();
    const here = position(),
      form = formOf(options),
      inputs = [];
    const plan = JSON.stringify(await this.#plan(inputs));
    const result = await asImagesErrors(host.img_output(this.#id, plan, form, inputs), here);
    for (const warning of result.warnings) console.warn(`IMAGES: ${warning}`);
    return new ImageTransformationResult(result);
  }
}

/** The options of output() in the service's form: each a text. */
function formOf({ format, quality, background, anim }) {
  return JSON.stringify({
    format: `${format}`,
    quality: quality === undefined ? undefined : quality.toString(),
    background: background === undefined ? undefined : `${background}`,
    anim: anim === undefined ? undefined : anim.toString() === "true",
  });
}

// The image can be read once: image() and response() return the same bytes.
class ImageTransformationResult {
  #answer;
  constructor({ data, type }) {
    this.#answer = new Response(data, { headers: { "content-type": type } });
  }

  contentType() {
    return this.#answer.headers.get("content-type");
  }

  image(options) {
    const { body } = this.#answer;
    if (options?.encoding !== "base64") return body;
    return new ReadableStream({
      type: "bytes",
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode(toBase64(await drain(body))));
        controller.close();
      },
    });
  }

  response(options) {
    const headers = new Headers(options?.headers);
    headers.set("content-type", this.contentType());
    return new Response(this.image(), { headers });
  }
}

/** The bytes of an image, from a stream or from complete data. */
async function bytesOf(source, options) {
  let bytes = viewOf(source);
  if (bytes === undefined && source instanceof Blob) bytes = new Uint8Array(await source.arrayBuffer());
  if (bytes === undefined && source instanceof ReadableStream) bytes = await drain(source);
  if (bytes === undefined)
    throw new TypeError("The image must be a ReadableStream, a Blob, an ArrayBuffer or a view of one");
  if (options?.encoding !== "base64") return bytes;
  return fromBase64(new TextDecoder().decode(bytes));
}

/** Makes ImagesErrors of the host's refusals, with the stack of the call. */
async function asImagesErrors(promise, here) {
  try {
    return await promise;
  } catch (error) {
    if (error.code === undefined) throw placed(error, here);
    const made = new ImagesError(error.message, error.code);
    made.stack = `${made}`;
    throw placed(made, here);
  }
}
