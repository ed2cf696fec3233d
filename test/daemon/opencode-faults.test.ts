import { afterAll, beforeAll, expect } from "bun:test";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { runGit } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { killFound } from "../helpers/processes.ts";
import { RUNTIME, RUNTIME_NAME, RUNTIME_PLUGINS } from "../helpers/runtime.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null && RUNTIME_PLUGINS !== null);

/**
 * opencode with a project that has rules, skills and providers of its own, in one sandbox for all tests, in their order:
 * each start of opencode takes seconds, and it is started again only for what a restart does.
 */
let agent: AgentSandbox;
let sandbox: Sandbox;
/** A conversation that all tests go on with. */
let talk: string;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox({
    env: {
      OPENCODE_MODELS_PATH: join(import.meta.dir, "../helpers/one-provider.json"),
      OWN_KEY: "own-model-key",
      ANTHROPIC_API_KEY: "sk-ant-scripted",
      SVC_PROJECT_SECRET_NAMES: "OWN_KEY,ANTHROPIC_API_KEY",
    },
    files: FILES,
  });
  ({ sandbox } = agent);
  // the session's own, to which the server's prompts go
  await open();
  talk = await open();
});
afterAll(() => agent?.[Symbol.asyncDispose]());

/** A project that brings its own provider, whose key is a secret. */
const PROVIDERS = {
  // known to the runtime by its name: only the address is the test's
  anthropic: { options: { baseURL: "{env:SVC_LLM_BASE_URL}" } },
  own: {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: "{env:SVC_LLM_BASE_URL}", apiKey: "{env:OWN_KEY}" },
    models: { large: { name: "Large" } },
  },
};
const FILES = {
  "AGENTS.md": "Root rules of the project.\n",
  ".svc/agentrt/AGENTS.md": "Folder rules of the project.\n",
  "extra.md": "Extra rules of the project.\n",
  "opencode.json": `${JSON.stringify({ instructions: ["extra.md"], provider: PROVIDERS }, null, 2)}\n`,
  ".svc/agentrt/opencode.json": '{ "theme": "system" }\n',
  ".svc/agentrt/tools/none.md": "",
  ".opencode/agents/x.md": "Text.\n",
  ".svc/agentrt/skills/own/SKILL.md": "---\nname: own\ndescription: The project's own skill.\n---\nText.\n",
};

const CUT_OFF = "[svc] The agent runtime restarted while it was answering: the answer above is cut off.";

test("the model gets svc's skill and rules beside the project's, and the clone has no new files", async () => {
  const skills: { name: string }[] = await (await sandbox.call("GET", "/skill")).json();
  expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(["svc", "own"]));
  expect(await answerTo(talk, "Hello")).toBe("Hello");
  const { messages } = lastBody();
  const system = JSON.stringify(messages.filter(({ role }: { role: string }) => role === "system"));
  for (const text of ["You work in an svc session", "Root rules", "Folder rules", "Extra rules"])
    expect(system).toContain(text);
  expect(JSON.stringify(lastBody())).toContain("How work leaves this svc session");
  expect(await answerTo(talk, '!tool skill {"name":"svc"}\n!say Read.')).toBe("Read.");
  expect(JSON.stringify(lastBody())).toContain("svc cr open --title");
  // a project's own tools find their packages
  for (const folder of [join(sandbox.home, "agentrt"), join(sandbox.workspace, ".opencode")])
    expect(lstatSync(join(folder, "node_modules")).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(sandbox.home, ".config/opencode"))).toContain("node_modules");
  expect(await status()).toBe("");
  expect(readWorkspace("opencode.json")).not.toContain("$schema");
});

test("a provider of the project gets the project's key", async () => {
  const through = (providerID: string, modelID: string) => ({ model: { providerID, modelID } });
  expect(await answerTo(talk, "!say Own.", through("own", "large"))).toBe("Own.");
  expect(lastRequest()?.headers.authorization).toBe("Bearer own-model-key");
  // the model does not know this format, and the run fails
  expect(await answerTo(talk, "By a key that the runtime knows", through("anthropic", "claude"))).toBe("");
  expect(lastRequest()?.headers["x-api-key"]).toBe("sk-ant-scripted");
  expect(lastRequest()?.path).toBe("/v1/messages");
  // the conversation goes on with the last one
  expect(await answerTo(talk, "!say svc's.", through("svc", "scripted"))).toBe("svc's.");
  expect(lastRequest()?.headers.authorization).toBe("Bearer scripted-model-key");
});

/** A conversation that a restart has cut off. */
let hanging: string;

test("a refresh brings what was pushed, and marks the answer that it cuts off, but no other conversation", async () => {
  hanging = await open();
  await prompt(hanging, "!hang");
  await until("it waits", () => isAsked("!hang"));
  const before = await texts(talk);
  const { commit, runtime_pid } = await sandbox.health();
  const pushed = '{ "instructions": ["extra.md"], "autoupdate": false }\n';
  await sandbox.repository.write([
    {
      name: "second",
      branch: sandbox.sessionId,
      parents: [commit ?? ""],
      files: { "opencode.json": pushed },
    },
  ]);
  const refreshed = await sandbox.call("POST", "/svc/refresh", "platform");
  expect(await refreshed.json()).toMatchObject({ ok: true });
  await backAfter(runtime_pid);
  expect(readWorkspace("opencode.json")).toBe(pushed);
  await until("what the model never answered is let go", () => agent.model.counts.open === 0);
  await until("it is marked", async () => (await texts(hanging)).at(-1) === CUT_OFF);
  expect(await texts(talk)).toEqual(before);
});

test("a killed runtime is restarted; its run is marked as cut off, and its prompt as interrupted", async () => {
  // a changed file is not overwritten
  writeFileSync(join(sandbox.workspace, "opencode.json"), '{ "instructions": [] }\n');
  const said = await texts(talk);
  // until something ends it, however slow the machine is
  const slow = "!slow 1 some words\n!hang";
  const asked = `!run echo once >> once.txt\n${slow}`;
  // the server's own waits until nothing else runs
  const promptId = await beginPrompt(sandbox, asked);
  await prompt(talk, `!run echo one\n${slow}`);
  await until("both speak", () => speaking("echo one") && speaking("echo once"));
  expect(readWorkspace("once.txt")).toBe("once\n");
  const before = await sandbox.health();
  killFound(before.runtime_pid, "SIGKILL");
  await backAfter(before.runtime_pid);
  await until("it is marked", async () => (await texts(talk)).at(-1) === CUT_OFF);
  expect((await texts(talk)).slice(0, said.length)).toEqual(said);
  // what had no run then is left as it is
  expect((await texts(hanging)).filter((text) => text === CUT_OFF)).toHaveLength(1);
  expect(sandbox.log()).toContain("2 answers were cut off by the restart");
  expect((await status()).split("\n").map((line) => line.trim())).toEqual(["M opencode.json", "?? once.txt"]);
  expect(await outcomeOf(sandbox, asked, promptId)).toMatchObject({
    state: "interrupted",
    error: "The agent runtime restarted in the middle of the answer.",
  });
  const next = "!run echo next >> once.txt\n!say Next.";
  expect(await outcomeOf(sandbox, next)).toMatchObject({ state: "answered" });
  expect(readWorkspace("once.txt")).toBe("once\nnext\n");

  expect(await answerTo(talk, "!say I go on.")).toBe("I go on.");
  expect(JSON.stringify(lastBody().messages)).toContain("the answer above is cut off");
});

/** The last request with tools: others are for titles. */
function lastRequest() {
  return agent.model.requests.findLast(({ body }) => Array.isArray(body.tools));
}

function lastBody() {
  return lastRequest()?.body ?? {};
}

/** Whether a prompt has reached the model. */
function isAsked(text: string): boolean {
  return JSON.stringify(lastBody().messages ?? []).includes(text);
}

/** Whether the model is at the answer that follows on a tool's call. */
function speaking(call: string): boolean {
  return agent.model.requests.some(({ body }) => {
    const messages = JSON.stringify(body.messages ?? []);
    return messages.includes("tool_calls") && messages.includes(call);
  });
}

function readWorkspace(name: string): string {
  return readFileSync(join(sandbox.workspace, name), "utf8");
}

async function status(): Promise<string> {
  const words = ["status", "--porcelain", "--untracked-files=all"];
  return (await runGit(sandbox.workspace, words)).stdout.toString().trim();
}

async function open(): Promise<string> {
  return (await (await sandbox.call("POST", "/session", "user", { title: "Beside" })).json()).id;
}

async function prompt(id: string, text: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = { parts: [{ type: "text", text }], ...more };
  expect((await sandbox.call("POST", `/session/${id}/prompt_async`, "user", body)).status).toBe(204);
}

async function answerTo(id: string, text: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { parts: [{ type: "text", text }], ...more };
  const answer = await sandbox.call("POST", `/session/${id}/message`, "user", body);
  return textOf(await answer.json());
}

/** The messages of a conversation. */
async function texts(id: string): Promise<string[]> {
  const messages = await (await sandbox.call("GET", `/session/${id}/message`)).json();
  return messages.map(textOf);
}

function textOf({ parts }: { parts: { type: string; text?: string }[] }): string {
  return parts.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("");
}

async function backAfter(pid: number | null): Promise<void> {
  await sandbox.untilHealth("it is back", (health) => health.runtime === "ok" && health.runtime_pid !== pid);
}
