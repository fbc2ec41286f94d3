import { init, Tiktoken } from "tiktoken/lite/init";
import wasm from "tiktoken/lite/tiktoken_bg.wasm?module";
import model from "tiktoken/encoders/cl100k_base.json";

const ready = init((imports) => WebAssembly.instantiate(wasm, imports));

export async function tokens() {
  await ready;
  const encoder = new Tiktoken(model.bpe_ranks, model.special_tokens, model.pat_str);
  const list = encoder.encode("hello world, schöne Grüße");
  const text = new TextDecoder().decode(encoder.decode(list));
  encoder.free();
  return { first: [...list.slice(0, 3)].join(), text };
}
