/** A Blob of bytes. */
export function blobOf(bytes, type = "") {
  return new Blob([bytes], { type });
}
