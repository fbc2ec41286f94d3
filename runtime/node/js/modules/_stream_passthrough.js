// https://nodejs.org/api/stream.html: an old name of PassThrough.
import { PassThrough } from "node:stream";

export { PassThrough };
export default PassThrough;
