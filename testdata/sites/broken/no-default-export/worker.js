export function fetch() {
  return new Response("exported by the wrong name");
}
