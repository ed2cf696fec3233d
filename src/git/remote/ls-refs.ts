import type { Branches } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import type { RunResult } from "../run/run.ts";
import { packet } from "./pkt-line.ts";
import type { Remote } from "./remote.ts";

/**
 * Requests only HEAD and the branches of a remote, in git's protocol version 2 (gitprotocol-v2, "ls-refs"). `git
 * ls-remote` would get every ref — some hosts have a hundred thousand for pull requests — and starts two more processes.
 * @returns the branches; "other" when this remote needs `ls-remote`; or the failed run
 */
export async function listByLsRefs(engine: Engine, remote: Remote): Promise<Branches | "other" | RunResult> {
  const command = commandFor(remote);
  if (!command) return "other";
  const conversation = createConversation(command.greeting, engine.limits.outputBytes);
  const result = await engine.runner.run({
    args: command.args,
    environment: { ...remote.environment, GIT_PROTOCOL: "version=2" },
    deadlineMs: engine.limits.listMs,
    memory: engine.limits.fetchMemory,
    ...conversation,
  });
  const answer = conversation.answer();
  return answer === "none" ? result : answer;
}

/** For http(s), git's helper passes the protocol through (gitremote-helpers, "stateless-connect"). */
function commandFor(remote: Remote): { args: string[]; greeting: string } | null {
  if (remote.scheme === "file") {
    const path = decodeURIComponent(remote.url.slice("file://".length));
    return { args: ["upload-pack", path], greeting: "" };
  }
  if (remote.scheme === "https" || remote.scheme === "http") {
    return {
      args: [`remote-${remote.scheme}`, remote.url, remote.url],
      greeting: "stateless-connect git-upload-pack\n",
    };
  }
  return null;
}

interface Conversation {
  interact(write: (text: string) => void): void;
  onStdout(chunk: Uint8Array): boolean;
  /** "none" when the connection ended too early. */
  answer(): Branches | "other" | "none";
}

function createConversation(greeting: string, maxBytes: number): Conversation {
  let write = (_text: string) => {};
  let state: "greeted" | "capabilities" | "refs" | "done" | "other" = greeting ? "greeted" : "capabilities";
  let pending: Buffer = Buffer.alloc(0);
  let bytes = 0;
  const capabilities: string[] = [];
  const tips = new Map<string, string>();
  const symbolic = new Map<string, string>();
  let head: string | null = null;

  return { interact, onStdout, answer };

  function interact(writeToGit: (text: string) => void): void {
    write = writeToGit;
    if (greeting) write(greeting);
  }

  function onStdout(chunk: Uint8Array): boolean {
    bytes += chunk.length;
    if (bytes > maxBytes) state = "other";
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : Buffer.from(chunk);
    if (state === "greeted") readGreeting();
    while (state === "capabilities" || state === "refs") {
      const line = takeLine();
      if (line === "more") break;
      if (state === "capabilities") onCapability(line);
      else onRef(line);
    }
    return state !== "done" && state !== "other";
  }

  function readGreeting(): void {
    const end = pending.indexOf(10);
    if (end < 0) return;
    state = end === 0 ? "capabilities" : "other";
    pending = pending.subarray(end + 1);
  }

  /** The next pkt-line; null for a flush or another special packet. */
  function takeLine(): string | null | "more" {
    if (pending.length < 4) return "more";
    const digits = pending.toString("latin1", 0, 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (Number.isNaN(length)) {
      state = "other";
      return "more";
    }
    if (length < 4) {
      pending = pending.subarray(4);
      return null;
    }
    if (pending.length < length) return "more";
    const line = pending.toString("utf8", 4, length).replace(/\n$/, "");
    pending = pending.subarray(length);
    return line;
  }

  function onCapability(line: string | null): void {
    if (line !== null) {
      capabilities.push(line);
      return;
    }
    if (
      capabilities[0] !== "version 2" ||
      !capabilities.some((capability) => /^ls-refs(?:=|$)/.test(capability))
    ) {
      state = "other";
      return;
    }
    const format = capabilities.find((capability) => capability.startsWith("object-format="));
    const request = packets(["command=ls-refs\n", ...(format ? [`${format}\n`] : [])]);
    const wanted = packets(["symrefs\n", "ref-prefix HEAD\n", "ref-prefix refs/heads/\n"]);
    write(`${request}0001${wanted}0000`);
    state = "refs";
  }

  function onRef(line: string | null): void {
    if (line === null) {
      state = "done";
      return;
    }
    const [id = "", ref = "", ...attributes] = line.split(" ");
    if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(id)) state = "other";
    const target = attributes.find((text) => text.startsWith(SYMREF))?.slice(SYMREF.length) ?? null;
    if (ref === "HEAD") head = target;
    else if (ref.startsWith(HEADS) && !ref.includes("\ufffd")) {
      tips.set(ref.slice(HEADS.length), id);
      if (target !== null) symbolic.set(ref.slice(HEADS.length), target);
    }
  }

  function answer(): Branches | "other" | "none" {
    if (state === "done") return { tips, head, symbolic };
    return state === "other" ? "other" : "none";
  }
}

const HEADS = "refs/heads/";
const SYMREF = "symref-target:refs/heads/";

function packets(lines: readonly string[]): string {
  return Buffer.concat(lines.map((line) => packet(line))).toString();
}
