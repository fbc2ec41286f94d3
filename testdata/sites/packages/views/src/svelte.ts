import { render } from "svelte/server";
import Boats from "./generated/Boats.svelte.js";

/** https://svelte.dev/docs/svelte/svelte-server */
export async function svelte() {
  const { head, body } = render(Boats, { props: { name: "<Jane>", boats: [{ id: 1, name: "heron" }, { id: 2, name: "wren & co" }] } });
  return { head, body };
}
