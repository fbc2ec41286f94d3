import { createOpenAI } from "@ai-sdk/openai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

/** https://github.com/openai/openai-node#readme */
export async function openai(at: string) {
  const client = new OpenAI({ apiKey: "sk-test", baseURL: `${at}/v1`, maxRetries: 1 });
  const answer = await client.chat.completions.create({ model: "gpt-test", messages: [{ role: "user", content: "Say hi" }] });
  const stream = await client.chat.completions.create({ model: "gpt-test", stream: true, messages: [{ role: "user", content: "Say hi" }] });
  const parts: string[] = [];
  for await (const chunk of stream) parts.push(chunk.choices[0]?.delta?.content ?? "");
  const refused = await client.chat.completions.create({ model: "no-such", messages: [] }).catch((error: InstanceType<typeof OpenAI.APIError>) => `${error.constructor.name} ${error.status} ${error.code} ${error.message}`);
  return { answer: answer.choices[0].message.content, tokens: answer.usage?.total_tokens, parts, refused };
}

/** https://ai-sdk.dev/docs/ai-sdk-core/generating-text */
export async function aiSdk(at: string) {
  const model = createOpenAI({ apiKey: "sk-test", baseURL: `${at}/v1` }).chat("gpt-test");
  const streamed = streamText({ model, prompt: "Say hi" }), words: string[] = [];
  for await (const text of streamed.textStream) words.push(text);
  const weather = tool({ description: "The weather of a place", inputSchema: z.object({ place: z.string() }), execute: async ({ place }) => `sunny in ${place}` });
  const called = await generateText({ model, prompt: "weather?", tools: { weather }, stopWhen: stepCountIs(3) });
  const typed = await generateText({ model, prompt: "as json", output: Output.object({ schema: z.object({ name: z.string(), seats: z.number() }) }) });
  const events = await streamText({ model, prompt: "Say hi" }).toUIMessageStreamResponse().text();
  return {
    words, finish: await streamed.finishReason, usage: (await streamed.usage).totalTokens,
    steps: called.steps.length, text: called.text, results: called.steps[0].toolResults.map((result) => result.output), typed: typed.output,
    events: events.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)).type).filter((type, i, all) => type !== all[i - 1]),
  };
}
