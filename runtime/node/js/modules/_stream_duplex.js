// https://nodejs.org/api/stream.html: an old name of Duplex.
import { Duplex } from "node:stream";

export const { from, fromWeb, toWeb } = Duplex;
export { Duplex };
export default Duplex;
