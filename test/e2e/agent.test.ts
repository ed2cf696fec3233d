import { afterAll, beforeAll, expect } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { type ScriptedModel, startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { MODEL, RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** The three compiled programs and the real agent runtime: what an agent types in its sandbox, and what it is told. */
let api: Api;
let model: ScriptedModel;
let remote: Remote;
let sessionId: string;
let conversation: string;

beforeAll(async () => {
  if (RUNTIME === null) return;
  model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  api = await startApi({ env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
  const { project_id } = await api.project(remote.url);
  const sessions = `/v1/projects/${project_id}/sessions`;
  await api.call("PUT", `/v1/projects/${project_id}/secrets/API_KEY`, { body: { value: "s3cret" } });
  const made = await api.call("POST", sessions, { body: { model: MODEL, name: "Try" } });
  sessionId = made.body.session_id;
  const look = async () => (await api.call("GET", `${sessions}/${sessionId}`)).body;
  await untilStatus(look, ["running"], 60_000);
  conversation = (await runtime("POST", "/session", { title: "svc" })).id;
}, 120_000);
afterAll(async () => {
  await api?.stop();
  remote?.remove();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

async function runtime(method: string, path: string, body?: unknown) {
  const options = body === undefined ? {} : { body };
  return (await api.call(method, `/v1/p/${sessionId}/8000${path}`, options)).body;
}

/** What a command of the agent's printed, and its exit status. */
async function types(command: string): Promise<{ said: string; code: number }> {
  const parts = [{ type: "text", text: `!run ${command}\n!say Done.` }];
  await runtime("POST", `/session/${conversation}/message`, { parts });
  const messages = await runtime("GET", `/session/${conversation}/message`);
  const calls = messages
    .flatMap(({ parts }: { parts: { type: string }[] }) => parts)
    .filter(({ type }: { type: string }) => type === "tool");
  const { state } = calls.at(-1);
  return { said: state.output, code: state.metadata.exit };
}

test("svc needs no file and no login: it knows who, which project and which session", async () => {
  const { said, code } = await types("svc whoami --json");
  expect(code).toBe(0);
  expect(JSON.parse(said)).toMatchObject({ kind: "project", session_id: sessionId, project_name: "Example" });
  expect(await types("ls -A ~/.config")).toMatchObject({ said: "opencode\n" });
  expect(await types("head -2 ~/.config/opencode/skills/svc/SKILL.md; git status --porcelain")).toMatchObject(
    {
      said: "---\nname: svc\n",
    },
  );
  expect(await types("svc secrets ls | cut -f1; echo $API_KEY | wc -c")).toMatchObject({
    said: "API_KEY\n7\n",
  });
  expect((await types('svc sessions preview "$SVC_SESSION_ID" 3000')).said).toContain(`p3000-${sessionId}`);
  expect(await types("env | grep -c ^SVC_TOKEN=")).toMatchObject({ said: "0\n" });
}, 60_000);

test("a title is all that opening a change request takes; what is not in it is said, with what to type", async () => {
  const early = await types("svc cr open --title Early");
  expect(early.said).toContain(
    "Opened #1, but:\n  It changes nothing yet: commit, then git push origin HEAD",
  );
  const untidy = await types("echo 2 > b.txt; svc cr open --title Untidy");
  expect(untidy.said).toContain("1 change is not committed, and not in it: git add, git commit");
  const local = await types("git add -A; git commit -qm 'Add b'; svc cr open --title Local");
  expect(local.said).toContain("Commits are not pushed, and not in it: git push origin HEAD");
  const whole = await types("git push -q origin HEAD && svc cr open --title Whole");
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.said).toContain("Opened #4. Tell the user this number; merging is theirs.");
  expect((await types("svc cr show 4")).said).not.toContain("svc cr merge");
  const [row] = (await types("svc cr ls --json")).said.split("\n").filter(Boolean);
  expect(JSON.parse(row ?? "[]")[0] ?? JSON.parse(row ?? "{}")).toMatchObject({
    origin_session_id: sessionId,
  });
}, 60_000);

test.each([
  ["git push origin HEAD:main", 1, "git push origin HEAD:"],
  ["git commit -q --amend -m Other && git push --force origin HEAD", 1, "an agent rewrites no history"],
  ["svc projects ls", 1, "svc projects info"],
  ["svc cr open", 2, "needs --title"],
  ["svc cr opne --title x", 2, "Did you mean `svc cr open`?"],
  ["svc cr show nonsense", 2, "`svc cr ls` lists them"],
  ["SVC_CLI_TOKEN=svc_pat_wrong svc cr ls", 1, "A session's token ends with its sandbox"],
  ["svc login", 1, "A sandbox is signed in by its environment"],
])(
  "%s ends with %d, and says what to do",
  async (command, code, words) => {
    const ran = await types(command);
    expect(ran.said).toContain(words);
    expect(ran.code).toBe(code);
  },
  30_000,
);
