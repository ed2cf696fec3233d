import { expect } from "bun:test";
import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { Session } from "../../src/contract/session.ts";
import type { Api } from "./api.ts";
import type { Remote } from "./remote.ts";
import { MODEL } from "./runtime.ts";
import { until } from "./until.ts";

/** A project in which agents work, from the view of its users. */
export interface Workplace {
  /** Starts a session with a first prompt, and waits until it runs. */
  begin(prompt: string): Promise<Session>;
  session(id: string): Promise<Session>;
  prompt(id: string, text: string): Promise<string>;
  /** Waits for a prompt's outcome. */
  outcome(id: string, promptId: string): Promise<{ state: string; error: string | null }>;
  /** The open change requests. */
  open(): Promise<ChangeRequest[]>;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON is looked into by the assertions of the tests
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
}

export function workplace(api: () => Pick<Api, "call">, projectId: string): Workplace {
  const call: Workplace["call"] = (method, path, body) =>
    api().call(method, `/v1/projects/${projectId}${path}`, body === undefined ? {} : { body });
  const session: Workplace["session"] = async (id) => (await call("GET", `/sessions/${id}`)).body;

  return {
    call,
    session,
    async begin(prompt) {
      const made = await call("POST", "/sessions", { model: MODEL, initial_prompt: prompt });
      expect(made).toMatchObject({ status: 201 });
      const id: string = made.body.session_id;
      await until("the session runs", async () => (await session(id)).status !== "provisioning");
      const begun = await session(id);
      expect([begun.status, begun.error]).toEqual(["running", null]);
      return begun;
    },
    async prompt(id, text) {
      const { status, body } = await call("POST", `/sessions/${id}/prompt`, { text });
      expect([status, body.error]).toEqual([202, undefined]);
      return body.prompt.prompt_id;
    },
    async outcome(id, promptId) {
      const read = async () => (await call("GET", `/sessions/${id}/prompts/${promptId}`)).body.prompt;
      const isOver = async () => !["queued", "running"].includes((await read()).state);
      await until("the prompt is over", isOver);
      return await read();
    },
    open: async () => (await call("GET", "/change-requests?status=open")).body.change_requests,
  };
}

/**
 * The main job: an agent edits, commits, pushes and opens its change request; a merge into the default branch makes a
 * conflict of it, which the agent resolves when it is asked to; a person merges.
 */
export async function changeThroughAgent({ begin, call, open, prompt, outcome }: Workplace, remote: Remote) {
  const first = [
    "!run printf 'hello from the agent\\n' > hello.txt",
    "!run git commit -qam 'Greet from the agent'",
    "!run git push -q origin HEAD",
    "!run svc cr open --title 'A greeting'",
    "!say It is open.",
  ];
  const { session_id: id, branch_name } = await begin(first.join("\n"));
  await until("its change request is open", async () => (await open()).length === 1);
  const [cr] = await open();
  expect(cr).toMatchObject({ title: "A greeting", origin_session_id: id, head_ref: branch_name });
  expect(remote.git("show", `${branch_name}:hello.txt`).trim()).toBe("hello from the agent");
  expect(remote.git("show", "main:hello.txt").trim()).toBe("hello");

  remote.commit("main", { "hello.txt": "hello from somebody else\n" });
  const preview = () => call("GET", `/change-requests/${cr?.cr_id}/merge-preview`);
  expect((await preview()).body).toMatchObject({ can_merge: false, conflicts: ["hello.txt"] });
  const second = [
    "!run git fetch -q origin main && ! git merge -q FETCH_HEAD",
    "!write hello.txt hello from both\\n",
    "!run git commit -qam 'Merge main' && git push -q origin HEAD",
    "!say Resolved.",
  ];
  expect(await outcome(id, await prompt(id, second.join("\n")))).toMatchObject({
    state: "answered",
    error: null,
  });
  expect((await preview()).body).toMatchObject({ can_merge: true, conflicts: [] });
  const merged = await call("POST", `/change-requests/${cr?.cr_id}/merge`, {});
  expect(merged).toMatchObject({ status: 200, body: { status: "merged" } });
  expect(remote.git("show", "main:hello.txt").trim()).toBe("hello from both");
  return id;
}

/** Reads a child's stream until this text. @returns the output so far, and the later output */
export async function readUntil(
  stream: ReadableStream<Uint8Array>,
  words: string,
): Promise<{ begun: string; rest: Promise<string> }> {
  const reader = stream.getReader();
  let begun = "";
  while (!begun.includes(words)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`it ended without saying ${words}: ${begun}`);
    begun += Buffer.from(value).toString();
  }
  return { begun, rest: toEnd(reader) };
}

async function toEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let said = "";
  for (let read = await reader.read(); !read.done; read = await reader.read())
    said += Buffer.from(read.value).toString();
  return said;
}
