// https://nodejs.org/api/stream.html: an old name of Writable.
import { Writable } from "node:stream";

export const { WritableState, fromWeb, toWeb } = Writable;
export { Writable };
export default Writable;
