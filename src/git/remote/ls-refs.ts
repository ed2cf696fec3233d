import type { Branches } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import type { RunResult } from "../run/run.ts";
import { packet, packetLength } from "./pkt-line.ts";
import type { Remote } from "./remote.ts";

/**
 * Requests only HEAD and the branches of a remote, in git's protocol version 2 (gitprotocol-v2, "ls-refs"). `git
 * ls-remote` would get every ref — some hosts have a hundred thousand for pull requests — and starts two more processes.
 * @returns the branches; "other" when this remote needs `ls-remote`; or the failed run
 */
export async function listByLsRefs(engine: Engine, remote: Remote): Promise<Branches | "other" | RunResult> {
  const command = commandFor(remote);
  if (!command) return "other";
  const conversation = new Conversation(command.greeting, engine.limits.outputBytes);
  const result = await engine.runner.run({
    args: command.args,
    environment: { ...remote.environment, GIT_PROTOCOL: "version=2" },
    deadlineMs: engine.limits.listMs,
    stillMs: engine.limits.listStillMs,
    memory: engine.limits.fetchMemory,
    interact: (write) => conversation.begin(write),
    onStdout: (chunk) => conversation.take(chunk),
  });
  return conversation.answer ?? result;
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

type State =
  /** Waits for the helper to connect. */
  | "greeted"
  | "capabilities"
  | "refs"
  | "done"
  /** This remote needs `ls-remote`. */
  | "other";

class Conversation {
  readonly #greeting: string;
  readonly #maxBytes: number;
  readonly #capabilities: string[] = [];
  readonly #tips = new Map<string, string>();
  readonly #symbolic = new Map<string, string>();
  #head: string | null = null;
  #state: State;
  #write = (_text: string) => {};
  /** What has arrived and is not read yet. */
  #pending: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(greeting: string, maxBytes: number) {
    this.#greeting = greeting;
    this.#maxBytes = maxBytes;
    this.#state = greeting ? "greeted" : "capabilities";
  }

  /** Null when the connection ended too early. */
  get answer(): Branches | "other" | null {
    if (this.#state === "done") return { tips: this.#tips, head: this.#head, symbolic: this.#symbolic };
    return this.#state === "other" ? "other" : null;
  }

  begin(write: (text: string) => void): void {
    this.#write = write;
    if (this.#greeting) write(this.#greeting);
  }

  /** @returns whether more is expected */
  take(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#state = "other";
    this.#pending = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : Buffer.from(chunk);
    if (this.#state === "greeted") this.#readGreeting();
    while (this.#state === "capabilities" || this.#state === "refs") {
      const line = this.#takeLine();
      if (line === "more") break;
      if (this.#state === "capabilities") this.#onCapability(line);
      else this.#onRef(line);
    }
    return this.#state !== "done" && this.#state !== "other";
  }

  #readGreeting(): void {
    const end = this.#pending.indexOf(10);
    if (end < 0) return;
    this.#state = end === 0 ? "capabilities" : "other";
    this.#pending = this.#pending.subarray(end + 1);
  }

  /** The next pkt-line; null for a flush or another special packet. */
  #takeLine(): string | null | "more" {
    if (this.#pending.length < 4) return "more";
    const length = packetLength(this.#pending.subarray(0, 4));
    if (length === null) {
      this.#state = "other";
      return "more";
    }
    if (this.#pending.length < length) return "more";
    const line = length < 4 ? null : this.#pending.toString("utf8", 4, length).replace(/\n$/, "");
    this.#pending = this.#pending.subarray(Math.max(length, 4));
    return line;
  }

  #onCapability(line: string | null): void {
    if (line !== null) {
      this.#capabilities.push(line);
      return;
    }
    const request = requestOf(this.#capabilities);
    if (request !== null) this.#write(request);
    this.#state = request === null ? "other" : "refs";
  }

  #onRef(line: string | null): void {
    if (line === null) {
      this.#state = "done";
      return;
    }
    const [id = "", ref = "", ...attributes] = line.split(" ");
    if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(id)) this.#state = "other";
    const target = attributes.find((text) => text.startsWith(SYMREF))?.slice(SYMREF.length) ?? null;
    if (ref === "HEAD") this.#head = target;
    else if (ref.startsWith(HEADS) && !ref.includes("\ufffd")) {
      this.#tips.set(ref.slice(HEADS.length), id);
      if (target !== null) this.#symbolic.set(ref.slice(HEADS.length), target);
    }
  }
}

const HEADS = "refs/heads/";
const SYMREF = "symref-target:refs/heads/";

/** @returns null when the server does not support `ls-refs` */
function requestOf(capabilities: readonly string[]): string | null {
  const isSupported = capabilities.some((capability) => /^ls-refs(?:=|$)/.test(capability));
  if (capabilities[0] !== "version 2" || !isSupported) return null;
  const format = capabilities.find((capability) => capability.startsWith("object-format="));
  const request = packets(["command=ls-refs\n", ...(format ? [`${format}\n`] : [])]);
  const wanted = packets(["symrefs\n", "ref-prefix HEAD\n", "ref-prefix refs/heads/\n"]);
  return `${request}0001${wanted}0000`;
}

function packets(lines: readonly string[]): string {
  return Buffer.concat(lines.map((line) => packet(line))).toString();
}
