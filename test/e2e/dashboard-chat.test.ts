import { afterAll, beforeAll, expect } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { type AgentServer, startAgentServer } from "../helpers/agent-session.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { CHROMIUM, closeProfiles, sharedBrowser, signIn, type Visit, visit } from "../helpers/browser.ts";
import type { ScriptedModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { AGENT, MODEL } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const test = needs(`${CHROMIUM[0]} and ${AGENT[0]}`, CHROMIUM[1] && AGENT[1]);

/** The page, the server, a local sandbox and the real agent runtime: only the model is scripted. */
let server: AgentServer;
let api: Api;
let model: ScriptedModel;
let remote: Remote;
let browser: Browser;
let projectId: string;
let sessionId: string;

beforeAll(async () => {
  if (!AGENT[1] || !CHROMIUM[1]) return;
  [server, browser] = await Promise.all([startAgentServer(), sharedBrowser()]);
  ({ api, model } = server);
  remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
  projectId = (await api.project(remote.url)).project_id;
  const made = await api.call("POST", `/v1/projects/${projectId}/sessions`, { body: { model: MODEL } });
  sessionId = made.body.session_id;
  await untilStatus(look, ["running"]);
});
afterAll(async () => {
  await closeProfiles();
  if (api !== server?.api) await api?.stop();
  await server?.[Symbol.asyncDispose]();
  remote?.remove();
});

const look = async () => (await api.call("GET", `/v1/projects/${projectId}/sessions/${sessionId}`)).body;

/** The session's page, once it can be talked in. */
async function open(): Promise<Visit> {
  const visited = await visit(browser, `${api.url}/assets/icon.svg`);
  await signIn(visited, api, `/projects/${projectId}/sessions/${sessionId}`);
  await visited.page.getByText("Running", { exact: true }).waitFor();
  await visited.page.getByText("Connecting").waitFor({ state: "detached" });
  return visited;
}

const chatOf = (page: Page) => page.getByRole("region", { name: "Conversation" });
const rests = (page: Page) => page.getByRole("button", { name: "Abort" }).waitFor({ state: "detached" });

async function say(page: Page, ...script: string[]): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt for the agent" }).fill(script.join("\n"));
  await page.keyboard.press("Enter");
}

test("streams an answer with tools and edits; answers a question and a permission in place", async () => {
  const { page, faults, close } = await open();
  const chat = chatOf(page);
  await say(page, "!say one two", "!wait", "!say  three");
  await chat.getByText(/^one two/).waitFor();
  expect(await chat.getByText(/^one two\s+three/).count()).toBe(0);
  await model.go();
  await chat.getByText(/^one two\s+three/).waitFor();
  await rests(page);

  const edit = '!tool edit {"filePath":"a.txt","oldString":"1","newString":"2\\n3"}';
  await say(page, "!run echo $((40+2))", edit, "!ask Which colour? | Red | Blue", "!say It is done.");
  await chat.getByRole("radio", { name: "Blue" }).check();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await chat.getByText("It is done.", { exact: true }).waitFor();
  await chat.getByText("a.txt +2 -1").waitFor();
  const ran = chat.locator("details", { hasText: "echo $((40+2))" });
  await ran.locator("summary").click();
  await ran.getByText("42").waitFor();
  await rests(page);

  const conversation = (await api.call("GET", `/v1/p/${sessionId}/8000/svc/health`)).body.conversation;
  await api.call("PATCH", `/v1/p/${sessionId}/8000/session/${conversation}`, {
    body: { permission: [{ permission: "bash", pattern: "*", action: "ask" }] },
  });
  await say(page, "!run echo allowed", "!say thanks");
  await page.getByRole("button", { name: "Allow once" }).click();
  await chat.getByText("thanks", { exact: true }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("aborts a run, including its model request", async () => {
  const { page, close } = await open();
  await say(page, "!say word word word", "!hang");
  await chatOf(page)
    .getByText(/^word word word/)
    .waitFor();
  await page.keyboard.press("Escape");
  await chatOf(page).getByText("The agent's run was aborted.").waitFor();
  await until("the model is left alone", () => model.counts.open === 0);
  await close();
});

test("reconnects to a restarted server; a message to a stopped session restarts it and is answered", async () => {
  const { page, close } = await open();
  const { port } = new URL(api.url);
  await api.stop({ keepData: true });
  await page.getByText("The server does not answer").waitFor();
  api = { ...api, ...(await startApi({ env: { ...server.env, SVC_PORT: port }, dataDir: api.dataDir })) };
  await page.getByText("The server does not answer").waitFor({ state: "detached" });
  await untilStatus(look, ["running", "stopped"]);
  await api.call("POST", `/v1/projects/${projectId}/sessions/${sessionId}/stop`);
  await untilStatus(look, ["stopped"]);
  // the first test's changes, which are not pushed
  await page.getByRole("link", { name: "Saved work" }).click();
  await page.getByRole("listitem").filter({ hasText: "a.txt" }).getByText("+2").waitFor();
  expect(await page.getByRole("region", { name: "Patch" }).textContent()).toContain("-1+2+3");
  await page.getByRole("link", { name: "Conversation" }).click();
  await say(page, "!say I am awake");
  await page.getByText("Running", { exact: true }).waitFor();
  await chatOf(page).getByText("I am awake", { exact: true }).waitFor();
  await close();
});
