// https://nodejs.org/api/stream.html: an old name of Readable.
import { Readable } from "node:stream";

export const { ReadableState, from, fromWeb, toWeb, wrap } = Readable;
export { Readable };
export default Readable;
