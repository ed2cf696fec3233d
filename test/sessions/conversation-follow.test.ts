import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TurnPart } from "../../src/contract/turn.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_IDLE_TIMEOUT: "3600" } });
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

/** A followed session, whose runtime has no texts under way in its messages, as opencode. */
async function followed(): Promise<{ id: string; runtime: RuntimeHost }> {
  const found = await followedSession(bench, runtimeOf);
  found.runtime.hasTextsUnderWay = false;
  return found;
}

async function answerOf(id: string): Promise<TurnPart | undefined> {
  const { body } = await bench.call("GET", `/${id}/conversation`);
  return body.turns[0]?.parts.find(({ kind }: TurnPart) => kind === "text");
}

async function says(id: string, text: string, state: TurnPart["state"]): Promise<void> {
  let last: TurnPart | undefined;
  await until(
    () => `the answer is ${text}, and not ${JSON.stringify(last)}`,
    async () => {
      last = await answerOf(id);
      return last?.text === text && last.state === state;
    },
  );
}

function begin(runtime: RuntimeHost): void {
  runtime.setBusy(true);
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "Speak" });
  runtime.message({ id: "msg_1a", role: "assistant", parentID: "msg_1" });
  runtime.part("msg_1a", { id: "prt_1a", type: "text", text: "" });
}

function end(runtime: RuntimeHost, text: string): void {
  runtime.part("msg_1a", { id: "prt_1a", type: "text", text, time: { end: 1 } });
  runtime.message({
    id: "msg_1a",
    role: "assistant",
    finish: "stop",
    time: { created: 1, completed: 2 },
  });
  runtime.setBusy(false);
}

test("a text that began while the runtime could not be read is whole", async () => {
  const { id, runtime } = await followed();
  const refused: string[] = [];
  let isDown = true;
  runtime.isDown = (path) => {
    if (isDown && path !== "/event") refused.push(path);
    return isDown && path !== "/event";
  };
  runtime.cut();
  await until("it is followed again", () => runtime.followers > 0);
  begin(runtime);
  runtime.delta("msg_1a", "prt_1a", "Before ");
  const before = refused.length;
  await until("the runtime is read in vain", () => refused.length > before);
  isDown = false;
  runtime.emit("server.heartbeat", {});
  await says(id, "Before ", "running");
  runtime.delta("msg_1a", "prt_1a", "after.");
  await says(id, "Before after.", "running");
  end(runtime, "Before after.");
  await says(id, "Before after.", "done");
});

test("a text that goes on while nobody follows keeps what was shown, without a gap, until it is complete", async () => {
  const { id, runtime } = await followed();
  begin(runtime);
  runtime.delta("msg_1a", "prt_1a", "one two ");
  await says(id, "one two ", "running");
  const reads = runtime.reads.length;
  runtime.cut();
  runtime.delta("msg_1a", "prt_1a", "three ");
  await until("it is followed again", () => runtime.followers > 0 && runtime.reads.length > reads);
  runtime.delta("msg_1a", "prt_1a", "four ");
  // stored after it
  runtime.part("msg_1a", {
    ...{ id: "prt_t", callID: "call_t", type: "tool", tool: "bash" },
    state: { status: "running", input: {} },
  });
  await until("what follows is stored", async () => {
    const { body } = await bench.call("GET", `/${id}/conversation`);
    return body.turns[0].parts.some(({ kind }: TurnPart) => kind === "tool");
  });
  expect(await answerOf(id)).toMatchObject({ text: "one two ", state: "running" });
  end(runtime, "one two three four ");
  await says(id, "one two three four ", "done");
});
