// https://nodejs.org/api/stream.html#streams-promises-api
import { promises } from "node:stream";

export const { finished, pipeline } = promises;
export { promises };
export default promises;
