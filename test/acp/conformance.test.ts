import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AcpSandbox, referenceAgent, startAcpSandbox, textOf } from "../helpers/acp-sandbox.ts";
import { until } from "../helpers/until.ts";

/** The daemon with an agent that asks for permission. */
let acp: AcpSandbox;
beforeAll(async () => {
  acp = await startAcpSandbox();
});
afterAll(() => acp?.[Symbol.asyncDispose]());

const told = async (of = acp) => {
  await of.send("!told");
  return JSON.parse(textOf(await of.answer()));
};

test("a prompt is answered: text, tokens, the reason of the end", async () => {
  expect(await acp.send("!say one two three")).toMatchObject({ state: "answered", error: null });
  const answer = await acp.answer();
  expect(textOf(answer)).toBe("one two three");
  expect(answer.info).toMatchObject({
    role: "assistant",
    finish: "stop",
    tokens: { input: 100, output: 7, reasoning: 0, cache: { read: 40, write: 0 } },
  });
  expect(answer.info.time.completed).toBeGreaterThanOrEqual(answer.info.time.created);
});

test("svc's rules, tools and the workspace reach the agent", async () => {
  const { rules, tools } = await told();
  expect(rules).toContain("You work in an svc session");
  expect(tools).toEqual([]);
});

test("an agent that the operator describes is told svc's rules once, with the first prompt", async () => {
  const description = {
    ...{ name: "own", title: "Own", modelFormat: "openai", folder: null, mode: null },
    ...{
      command: [await referenceAgent()],
      environment: {},
      rulesFile: null,
      skills: null,
      records: [],
      secrets: [],
    },
  };
  await using own = await startAcpSandbox([], {
    env: { SVC_RUNTIME_NAME: "own", SVC_RUNTIME_DESCRIPTION: JSON.stringify(description) },
  });
  await own.send("!say Hello.");
  const { prompts, rules } = await told(own);
  expect(rules).toBe("{}");
  expect(prompts).toEqual([expect.stringContaining("You work in an svc session"), "!say Hello."]);
  await own.send("!say More.");
  expect((await told(own)).prompts.at(-1)).toBe("!say More.");
});

test("thoughts and texts are parts of their own, in order", async () => {
  await acp.send("!think Hm.\n!say Yes.\n!think So?\n!say No.");
  const { parts } = await acp.answer();
  expect(parts.map(({ type, text }) => [type, text])).toEqual([
    ["reasoning", "Hm."],
    ["text", "Yes."],
    ["reasoning", "So?"],
    ["text", "No."],
  ]);
});

test("what a client is streamed is what is stored", async () => {
  const response = await acp.sandbox.call("GET", "/event");
  let seen = "";
  const decoder = new TextDecoder();
  const ended = new AbortController();
  const reading = (async () => {
    for await (const bytes of response.body ?? []) {
      seen += decoder.decode(bytes, { stream: true });
      if (ended.signal.aborted) return;
    }
  })();
  await until("the stream begins", () => seen.includes("server.connected"));
  await acp.send("!say a b c");
  await until("it ends", () => seen.includes("session.idle"));
  const events = eventsOf(seen);
  ended.abort();
  await acp.send("!say more");
  await reading;
  const deltas = events.flatMap(({ type, properties }) =>
    type === "message.part.delta" ? [[properties.offset, properties.delta]] : [],
  );
  expect(deltas).toEqual([
    [0, "a "],
    [2, "b "],
    [4, "c"],
  ]);
  const statuses = events.flatMap(({ type, properties }) =>
    type === "session.status" ? properties.status.type : [],
  );
  expect(statuses).toEqual(["busy", "idle"]);
});

function eventsOf(stream: string) {
  const data = stream.split("\n\n").filter((each) => each.startsWith("data: "));
  return data.map((each) => JSON.parse(each.slice("data: ".length)));
}

test("a permission request waits for a person, and the tool runs once it is given", async () => {
  const id = await acp.begin("!run echo done > made.txt\n!say Made.");
  let asked: { id: string; permission: string; patterns: string[] } | undefined;
  await until("it asks", async () => {
    asked = (await (await acp.sandbox.call("GET", "/permission")).json())[0];
    return asked !== undefined;
  });
  expect(asked).toMatchObject({ permission: "bash", patterns: ["echo done > made.txt"] });
  // it belongs to this turn, whichever prompts wait behind it
  expect(asked).toMatchObject({ tool: { messageID: (await acp.answer()).info.id } });
  const status: unknown = await acp.json("GET", "/session/status");
  expect(status).toEqual({ [await acp.conversation()]: { type: "busy" } });
  expect(await acp.json("POST", `/permission/${asked?.id}/reply`, { reply: "maybe" })).toMatchObject({
    name: "BadRequest",
  });
  expect(await acp.json("POST", `/permission/${asked?.id}/reply`, { reply: "once" })).toBe(true);
  await until("it is over", async () => textOf(await acp.answer()) === "Made.");
  expect(readFileSync(join(acp.sandbox.workspace, "made.txt"), "utf8")).toBe("done\n");
  const { parts } = await acp.answer();
  expect(parts[0]).toMatchObject({
    type: "tool",
    tool: "bash",
    state: { status: "completed", input: { command: "echo done > made.txt" } },
  });
  expect(await acp.json("GET", "/permission")).toEqual([]);
  expect(
    (await acp.sandbox.call("POST", `/permission/${asked?.id}/reply`, "user", { reply: "once" })).status,
  ).toBe(404);
  expect(id).not.toBe("");
});

test("a request that is rejected fails the tool, not the run", async () => {
  await acp.begin("!run touch forbidden\n!say Then not.");
  let id = "";
  await until("it asks", async () => {
    id = (await (await acp.sandbox.call("GET", "/permission")).json())[0]?.id ?? "";
    return id !== "";
  });
  await acp.json("POST", `/permission/${id}/reply`, { reply: "reject" });
  await until("it is over", async () => textOf(await acp.answer()) === "Then not.");
  const [tool] = (await acp.answer()).parts;
  expect(tool?.state).toMatchObject({ status: "error", error: "not allowed" });
});

test("a change of a file is a patch relative to the workspace, with its counts", async () => {
  writeFileSync(join(acp.sandbox.workspace, "note.md"), "old\n");
  await acp.send("!write note.md new");
  const [tool] = (await acp.answer()).parts;
  expect(tool?.state?.metadata.files).toEqual([{ relativePath: "note.md", additions: 1, deletions: 1 }]);
  expect(tool?.state?.metadata.diff).toContain("-old\n+new\n");
  expect(tool?.state?.metadata.diff).toContain("--- note.md");
});

test("a plan is the todo list, and one use of the tool that writes it", async () => {
  await acp.send("!plan read\n!plan read|write");
  const { parts } = await acp.answer();
  expect(parts.map(({ tool }) => tool)).toEqual(["todowrite"]);
  expect(parts[0]?.state?.input).toMatchObject({ todos: [{ content: "read" }, { content: "write" }] });
  expect(await acp.json("GET", `/session/${await acp.conversation()}/todo`)).toEqual([
    { content: "read", priority: "medium", status: "pending" },
    { content: "write", priority: "medium", status: "pending" },
  ]);
});

test("the cost of a turn is what the conversation's has grown by", async () => {
  await acp.send("!cost 0.5");
  expect((await acp.answer()).info.cost).toBe(0.5);
  await acp.send("!cost 0.75");
  expect((await acp.answer()).info.cost).toBe(0.25);
});

test("an abort ends the run and what waits behind it", async () => {
  const session = await acp.conversation();
  await acp.begin("!hang");
  const second = { messageID: "msg_0123456789abcdefghij", parts: [{ type: "text", text: "!say second" }] };
  expect((await acp.sandbox.call("POST", `/session/${session}/prompt_async`, "user", second)).status).toBe(
    204,
  );
  expect(await acp.json("POST", `/session/${session}/abort`)).toBe(true);
  await until("it is idle", async () => JSON.stringify(await acp.json("GET", "/session/status")) === "{}");
  expect((await acp.answer()).info.error?.name).toBe("MessageAbortedError");
  expect((await acp.messages()).filter(({ info }) => info.parentID === second.messageID)).toEqual([]);
  expect(await acp.json("POST", `/session/${session}/abort`)).toBe(false);
});

test("an abort while it asks for permission ends the run", async () => {
  const session = await acp.conversation();
  await acp.begin("!run echo never");
  await until("it asks", async () => JSON.stringify(await acp.json("GET", "/permission")) !== "[]");
  await acp.json("POST", `/session/${session}/abort`);
  await until("it is idle", async () => JSON.stringify(await acp.json("GET", "/session/status")) === "{}");
  expect((await acp.answer()).info.error?.name).toBe("MessageAbortedError");
  expect(await acp.json("GET", "/permission")).toEqual([]);
});

test("two prompts are answered in order, and a prompt that is sent twice once", async () => {
  const session = await acp.conversation();
  const prompt = (end: string, text: string) => ({
    messageID: `msg_ffffffffffff${end}`,
    parts: [{ type: "text", text }],
  });
  const before = (await acp.messages()).length;
  const bodies = [prompt("aaaaaaaaaaaaaa", "!say first"), prompt("bbbbbbbbbbbbbb", "!say second")];
  for (const body of [...bodies, ...bodies])
    expect((await acp.sandbox.call("POST", `/session/${session}/prompt_async`, "user", body)).status).toBe(
      204,
    );
  await until("both are answered", async () => textOf(await acp.answer()) === "second");
  const texts = (await acp.messages()).slice(before).map((message) => textOf(message));
  expect(texts.toSorted()).toEqual(["!say first", "!say second", "first", "second"]);
  expect(texts.indexOf("first")).toBeLessThan(texts.indexOf("second"));
});

test("a refusal and an error of the agent are the prompt's failures, in the agent's words", async () => {
  expect(await acp.send("!refuse")).toEqual({
    prompt_id: expect.any(String),
    state: "failed",
    error: "The model refused to answer.",
  });
  const failed = await acp.send("!fail no credit left");
  expect(failed.state).toBe("failed");
  expect(failed.error).toContain("no credit left");
  expect(await acp.send("!say still here")).toMatchObject({ state: "answered" });
});

test("images reach the agent", async () => {
  const session = await acp.conversation();
  const image = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
  const body = {
    messageID: "msg_ffffffffffffcccccccccccccc",
    parts: [
      { type: "file", mime: "image/png", url: image, filename: "a.png" },
      { type: "text", text: "!told" },
    ],
  };
  await acp.sandbox.call("POST", `/session/${session}/prompt_async`, "user", body);
  await until(
    "it is answered",
    async () => (await acp.answer()).info.parentID === body.messageID && textOf(await acp.answer()) !== "",
  );
  expect(JSON.parse(textOf(await acp.answer())).images).toBe(1);
});

test("a tool whose end was not reported failed with the answer", async () => {
  await acp.send("!leave sleep 1");
  expect((await acp.answer()).parts[0]?.state).toMatchObject({ status: "error", error: "It did not end." });
});

test("what is not text is named in the text", async () => {
  await acp.send("!link a.txt");
  expect(textOf(await acp.answer())).toBe("file:///a.txt[image]");
});

test("twenty prompts may wait, and another is refused", async () => {
  const path = `/session/${await acp.conversation()}`;
  const send = async (at: number) => {
    const messageID = `msg_eeeeeeeeeeee${String(at).padStart(14, "0")}`;
    const body = { messageID, parts: [{ type: "text", text: "!hang" }] };
    return (await acp.sandbox.call("POST", `${path}/prompt_async`, "user", body)).status;
  };
  for (let at = 0; at < 20; at++) expect(await send(at)).toBe(204);
  expect(await send(20)).toBe(429);
  // one that was accepted before
  expect(await send(0)).toBe(204);
  await acp.json("POST", `${path}/abort`);
  await until("it is idle", async () => JSON.stringify(await acp.json("GET", "/session/status")) === "{}");
});

test("invalid prompts and unknown routes are refused", async () => {
  const path = `/session/${await acp.conversation()}/prompt_async`;
  for (const body of [
    {},
    { messageID: "x", parts: [{ type: "text", text: "a" }] },
    { messageID: "msg_1", parts: [] },
  ])
    expect((await acp.sandbox.call("POST", path, "user", body)).status).toBe(400);
  for (const unknown of ["/session/ses_other/message", "/nothing", "/question/x/reply"])
    expect((await acp.sandbox.call("GET", unknown)).status).toBe(404);
});
