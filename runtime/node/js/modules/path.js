// https://nodejs.org/api/path.html
import { posix, win32 } from "node:internal/path";

export const {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format,
  parse,
  matchesGlob,
  sep,
  delimiter,
  _makeLong,
} = posix;
export { posix, win32 };
export default posix;
