import { afterAll, beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);

let pages: SessionPages;
let runtimeOf: (sessionId: string) => RuntimeHost;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  runtimeOf = hostRuntimes(pages.provider);
});
afterAll(() => pages?.stop());

test("each hunk of a change request links to the turn that wrote it, beside its prompt and the plan", async () => {
  const { session_id: id } = await pages.running();
  const runtime = runtimeOf(id);
  await until("the conversation is followed", () => runtime.followers > 0);
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "Write <b>the answer" });
  runtime.message({ id: "msg_1a", role: "assistant", parentID: "msg_1" });
  const part = (partId: string, tool: string, input: object, metadata: object) =>
    runtime.part("msg_1a", {
      ...{ id: partId, type: "tool", tool, callID: partId },
      state: { status: "completed", input, metadata },
    });
  part("prt_p", "todowrite", { todos: [{ content: "answer it", status: "completed" }] }, {});
  part(
    "prt_w",
    "write",
    { filePath: "/workspace/answer.ts", content: "const answer = 42;\n" },
    { exists: false },
  );
  part("prt_q", "question", { questions: [{ question: "Is it 42?" }] }, { answers: [["Yes"]] });
  runtime.message({
    id: "msg_1a",
    role: "assistant",
    time: { created: 1, completed: 2 },
    finish: "stop",
  });
  pages.remote.commit(id, { "answer.ts": "const answer = 42;\n", "by-hand.ts": "const other = 1;\n" });
  const { body: cr } = await pages.api.call("POST", `/v1/projects/${pages.projectId}/change-requests`, {
    body: { title: "Change", head_ref: id, session_id: id },
  });
  await until("the turn is stored", async () => {
    const { turns } = (await pages.call("GET", `/${id}/conversation`)).body;
    return turns[0]?.state === "done";
  });
  const { page, faults, close } = await pages.open(`/change-requests/${cr.number}?view=changes`);
  // only the hunk that the agent wrote has one
  await page.getByText("const other = 1;").waitFor();
  expect(await page.getByRole("link", { name: /^Turn/ }).count()).toBe(1);
  await page.getByRole("link", { name: "Turn 1", exact: true }).click();
  const session = page.getByRole("region", { name: "Session" });
  const turn = session.locator("li[aria-current=true]");
  await turn.waitFor();
  expect(await turn.textContent()).toContain("Write <b>the answer");
  expect(await turn.textContent()).toContain("/workspace/answer.ts");
  expect(await session.getByRole("region", { name: "Plan" }).textContent()).toContain("doneanswer it");
  await pages.call("POST", `/${id}/stop`);
  await pages.becomes(id, "stopped");
  await session.getByRole("link", { name: "Read the whole conversation" }).click();
  const asked = page.getByRole("region", { name: "Question from the agent" });
  await asked.waitFor();
  expect(await asked.textContent()).toBe("Is it 42?Yes");
  expect(faults()).toEqual([]);
  await close();
});
