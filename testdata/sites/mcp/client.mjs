// A stock client of MCP: connects to ADDRESS with a key, lists the tools, and makes the calls that stdin has
// as JSON, [{name, arguments}, ...]. Prints {tools, results}.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address, key] = process.argv.slice(2);
const calls = JSON.parse(await new Response(process.stdin).text());
const client = new Client({ name: "stock", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { authorization: `Bearer ${key}` } } }));
const tools = (await client.listTools()).tools.map(({ name }) => name); // from here on it checks results by their schemas
const results = [];
for (const call of calls) {
  results.push(await client.callTool(call));
}
await client.close();
console.log(JSON.stringify({ tools, results }));
