import { afterAll, beforeAll, expect, test } from "bun:test";
import { HIDDEN } from "../../src/contract/hidden.ts";
import { SESSION_TITLE_MAX } from "../../src/contract/limits.ts";
import { cleanTitle, firstWords } from "../../src/features/sessions/title.ts";
import { fc } from "../helpers/property.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "60", SVC_IDLE_TIMEOUT: "3600" } });
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

const titleOf = async (id: string): Promise<string | null> => (await bench.call("GET", `/${id}`)).body.title;

async function becomes(id: string, wanted: string): Promise<void> {
  let title: string | null = null;
  await until(
    () => `the title is ${wanted}, and not ${title}`,
    async () => {
      title = await titleOf(id);
      return title === wanted;
    },
  );
}

test.each([
  ["Fix the login\n\nIt fails on phones.", "Fix the login"],
  ["\n\n```\n## **Fix** the `login` page", "Fix the login page"],
  ["- [ ] > 1. Look at [the page](javascript:alert(1)) ![now](x)", "[ ] > 1. Look at the page now"],
  ["> 2) <b onclick=x>Fix</b> my_snake_case and a < b", "Fix my_snake_case and a < b"],
  ["a\u001b[31mred\u0007 \u202eback\u0000", "a[31mred back"],
  ["***\n---\n", null],
  [
    "Add a page that lists everything that anyone ever did, with filters, sorting and export",
    "Add a page that lists everything that anyone ever did, with filters,…",
  ],
  ["x".repeat(100), `${"x".repeat(SESSION_TITLE_MAX - 1)}…`],
])("the first words of %j", (prompt, words) => {
  expect(firstWords(prompt)).toBe(words);
});

test("of any text a title is one short line without hidden characters", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.lorem({ maxCount: 40 }));
  fc.assert(
    fc.property(text, (prompt) => {
      for (const title of [firstWords(prompt), cleanTitle(prompt)]) {
        if (title === null) return;
        expect([...title].length).toBeLessThanOrEqual(SESSION_TITLE_MAX);
        expect(title).toBe(title.trim());
        expect(title.match(HIDDEN)).toBeNull();
        expect(title).toMatch(/[\p{L}\p{N}]/u);
      }
    }),
  );
});

test("a session is called after its first prompt at once, and not after later ones", async () => {
  const prompted = await bench.create({ initial_prompt: "# Fix the login\nNow." });
  expect(prompted).toMatchObject({ name: null, title: "Fix the login" });
  const { body: empty } = await bench.call("POST", "", { body: {} });
  expect(empty.title).toBeNull();
  for (const text of ["Look around", "Go on"])
    await bench.call("POST", `/${empty.session_id}/prompt`, { body: { text } });
  expect(await titleOf(empty.session_id)).toBe("Look around");
  expect((await bench.call("GET", "")).body.sessions).toContainEqual(
    expect.objectContaining({ session_id: empty.session_id, title: "Look around" }),
  );
});

test("the agent's title replaces those words, once, and never a name", async () => {
  const { id, runtime } = await followedSession(bench, runtimeOf);
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "please look at the login thing" });
  // said in a chat, which svc only reads
  await becomes(id, "please look at the login thing");
  runtime.emit("session.updated", { info: { id: "ses_2", title: "A subagent" } });
  runtime.rename(runtime.title);
  runtime.rename("Login\u202e on **phones**");
  await becomes(id, "Login on phones");
  runtime.rename("Something else");
  runtime.message({ id: "msg_2", role: "user" });
  runtime.part("msg_2", { id: "prt_2", type: "text", text: "later" });
  await until("the later prompt is stored", async () =>
    (await bench.call("GET", `/${id}/conversation`)).text.includes("later"),
  );
  expect(await titleOf(id)).toBe("Login on phones");
  expect((await bench.call("PATCH", `/${id}`, { body: { name: "Mine" } })).body.title).toBe("Mine");
});

test("a title that came while nobody listened is read from the conversation", async () => {
  const { id, runtime } = await followedSession(bench, runtimeOf);
  runtime.cut();
  runtime.title = "Came meanwhile";
  await becomes(id, "Came meanwhile");
});
