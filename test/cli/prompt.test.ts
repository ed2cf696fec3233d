import { afterAll, beforeEach, expect, test } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { WaitingFor } from "../../src/contract/session.ts";
import { fakeApi } from "../helpers/cli-api.ts";
import { svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { prompt, SESSION_ID, session } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const ONE = "/projects/:p/sessions/:n";
const WAITING: WaitingFor = {
  request_id: "que_1",
  kind: "question",
  kept: false,
  permission: null,
  patterns: [],
  questions: [
    {
      question: "Which \x1b[1mone?",
      options: [{ label: "first", description: "" }],
      multiple: false,
      custom: true,
    },
  ],
};
const LINE = ["sessions", "prompt", SESSION_ID, "Go on"];
const ASKED = [
  "The agent waits for an answer: Which \\x1b[1mone? (first)",
  'To answer: svc sessions answer 1a2b3c4d "<text>"',
];

/** The states of the prompt, one a request, and then the last; the agent asks something in all but the last. */
function plays(...states: Prompt["state"][]) {
  let at = 0;
  const state = () => states[Math.min(at, states.length - 1)] ?? "queued";
  api.on(`GET ${ONE}/prompts/:q`, () => {
    const now = state();
    at++;
    const ended_at = now === "answered" ? "2026-11-20T10:00:00.000Z" : null;
    return { prompt: { ...prompt({ body: {} }), state: now, ended_at } };
  });
  api.on(`GET ${ONE}`, () => session({ activity: "waiting", waiting_for: WAITING }));
}

test("a prompt behind a question says so, with the command that answers", async () => {
  expect((await svc(LINE, { env: api.env })).stderr).toBe("Next: svc sessions prompts 1a2b3c4d\n");
  plays("queued");
  const ran = await svc(LINE, { env: api.env });
  expect(ran).toMatchObject({ code: 0, stderr: `${ASKED.join("\n")}\n` });
  expect(await svc([...LINE, "--json=state"], { env: api.env })).toMatchObject({
    stdout: '{"state":"queued"}\n',
    stderr: "",
  });
  // nobody would read the answer
  expect(api.seen.at(-1)?.method).toBe("POST");
});

test.each(["queued", "running"] as const)(
  "--wait ends without a terminal if the agent asks (%s)",
  async (state) => {
    plays(state);
    const ran = await svc([...LINE, "--wait"], { env: api.env });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(`error: ${ASKED[0]}\nhint: ${ASKED[1]}\n`);
    expect(ran.stderr).toContain("code: agent_waiting\n");
    const json = await svc([...LINE, "--wait", "--json"], { env: api.env });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "agent_waiting", session_id: SESSION_ID },
    });
  },
);

test("--wait on a terminal shows the question once, and continues", async () => {
  plays("running", "running", "answered");
  api.on(`GET ${ONE}/events`, () => new Response(""));
  const terminal = svcOnTerminal([...LINE, "--wait"], { env: { ...api.env, NO_COLOR: "1" } });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  const screen = terminal.screen().replaceAll("\r\n", "\n");
  expect(screen.split(ASKED.join("\n"))).toHaveLength(2);
  expect(screen).toContain("Prompt 1: answered");
});
