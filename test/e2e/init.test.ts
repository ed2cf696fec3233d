import { afterAll, beforeAll, expect } from "bun:test";
import { type AgentServer, startAgentServer } from "../helpers/agent-session.ts";
import type { Api } from "../helpers/api.ts";
import { type RunOptions, svc } from "../helpers/cli-run.ts";
import type { ScriptedModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT, MODEL, RUNTIME_NAME, RUNTIME_PLUGINS } from "../helpers/runtime.ts";
import { type Shipper, shipper } from "../helpers/shipping.ts";

const test = RUNTIME_PLUGINS === null ? needs(RUNTIME_NAME, false) : needs(...AGENT);

/** What `svc init` writes, unchanged, in a session with the real agent runtime: only the model is scripted. */
let server: AgentServer;
let api: Api;
let model: ScriptedModel;

beforeAll(async () => {
  if (!AGENT[1]) return;
  server = await startAgentServer();
  ({ api, model } = server);
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** What the session's sandbox answers. */
const asks = (id: string, method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/p/${id}/8000${path}`, body === undefined ? {} : { body });

async function says(who: Shipper, args: string[], options: RunOptions = {}): Promise<string> {
  const ran = await svc(args, { home: who.home, ...options });
  expect({ args, code: ran.code, stderr: ran.code === 0 ? "" : ran.stderr }).toEqual({
    args,
    code: 0,
    stderr: "",
  });
  return ran.stdout;
}

/** The session that `svc sessions new` starts, and waits for. */
async function start(who: Shipper): Promise<string> {
  const made = await says(who, ["sessions", "new", "--model", MODEL, "--json"]);
  const session = JSON.parse(made);
  expect(session).toMatchObject({ status: "running", error: null });
  return session.session_id;
}

/** The files that a commit has of the agent runtime, with their contents' ids. */
const scaffoldOf = (who: Shipper, folder: string) => who.git("-C", folder, "ls-tree", "-r", "HEAD", ".svc");

test("svc init, commit, ship: a session boots with the scaffold's agent, skill and tool; svc <project-name> has the same", async () => {
  const named = shipper(api, { branch: null });
  await says(named, ["my-shop", "--yes"]);
  const cwd = `${named.cwd}/my-shop`;
  await says(named, ["ship", "--yes", "--json"], { cwd });
  expect(await says(named, ["projects", "info", "--json"], { cwd })).toContain('"name":"my-shop"');

  const who = shipper(api);
  await says(who, ["init"]);
  who.commit({ "README.md": "# Shop\n" });
  await says(who, ["ship", "--yes", "--json"]);
  expect(scaffoldOf(named, cwd)).toBe(scaffoldOf(who, who.cwd));
  const id = await start(who);

  const { body: agents } = await asks(id, "GET", "/agent");
  expect(agents[0]).toMatchObject({ name: "developer", mode: "primary", native: false });
  const { body: skills } = await asks(id, "GET", "/skill");
  expect(skills.filter(({ name }: { name: string }) => name === "svc")).toHaveLength(1);
  expect((await asks(id, "GET", "/experimental/tool/ids")).body).toContain("preview");

  const { body: conversation } = await asks(id, "POST", "/session", { title: "svc" });
  const text = '!tool preview {"port":3000}\n!run git status --porcelain\n!say Done.';
  const { body: answer } = await asks(id, "POST", `/session/${conversation.id}/message`, {
    parts: [{ type: "text", text }],
  });
  expect(answer.info).toMatchObject({ agent: "developer", finish: "stop" });
  const { body: messages } = await asks(id, "GET", `/session/${conversation.id}/message`);
  const outputs = messages
    .flatMap(({ parts }: { parts: unknown[] }) => parts)
    .flatMap(({ type, state }: { type: string; state: { output: string } }) =>
      type === "tool" ? state.output : [],
    );
  expect(outputs).toEqual([expect.stringMatching(new RegExp(`^http://p3000-${id}\\.`)), "(no output)"]);
  const { messages: given } = model.requests.at(-1)?.body ?? {};
  const system = given.filter(({ role }: { role: string }) => role === "system");
  expect(JSON.stringify(system)).toContain("How work leaves this svc session");
});
