// https://nodejs.org/api/stream.html: an old name of Transform.
import { Transform } from "node:stream";

export { Transform };
export default Transform;
