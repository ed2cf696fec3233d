/**
 * Run in a network namespace of its own: gives it an interface into which whatever is not for loopback vanishes, as behind
 * a firewall that drops; starts the real runtime in a sandbox on a project with tools of its own, and prints what became
 * of a prompt that calls them, and what was sent into the dark. As JSON, in one line.
 */
import { openDark, sentIntoDark } from "./dark-network.ts";
import { startModel } from "./model.ts";
import { runtimeEnvironment } from "./runtime.ts";
import { startSandbox } from "./sandbox.ts";

/** Its output. */
export interface OfflineReport {
  answer: string;
  toolsSaid: string;
  packets: number;
}

openDark();

const TOOL = `import { tool } from "@opencode-ai/plugin"
export default tool({
  description: "Adds two numbers",
  args: { a: tool.schema.number(), b: tool.schema.number() },
  async execute({ a, b }) { return "The sum is " + (a + b) },
})
`;

await using model = await startModel();
await using sandbox = await startSandbox({
  files: { ".svc/agentrt/tools/add.ts": TOOL, ".opencode/tools/plus.ts": TOOL },
  env: runtimeEnvironment(model),
});
await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
const { id } = await (await sandbox.call("POST", "/session", "user", {})).json();
const text = '!tool add {"a":2,"b":3}\n!tool plus {"a":3,"b":4}\n!say Counted.';
const answered = await sandbox.call("POST", `/session/${id}/message`, "user", {
  parts: [{ type: "text", text }],
});
const { parts } = await answered.json();
// background requests start soon
await Bun.sleep(5_000);
const messages = model.requests.findLast(({ body }) => Array.isArray(body.tools))?.body.messages ?? [];
const report: OfflineReport = {
  answer: parts.map(({ text = "" }) => text).join(""),
  toolsSaid: JSON.stringify(messages.filter(({ role }: { role: string }) => role === "tool")),
  packets: sentIntoDark(),
};
process.stdout.write(`${JSON.stringify(report)}\n`);
