import { SvcError } from "../../contract/errors.ts";
import type { Engine } from "../run/engine.ts";
import { writeAll } from "../run/write-all.ts";

/** Looks up objects in a mirror through one long-lived `git cat-file`; a lookup takes well under a millisecond. */
export interface Objects {
  /** Type and size of the object of a revision such as `<commit>` or `<commit>:path`; null when it is not found. */
  info(name: string): Promise<ObjectInfo | null>;
  /** The bytes of an object. Check its size first. */
  contents(name: string): Promise<Uint8Array | null>;
  /** Ends the process; the next lookup starts another. */
  stop(): void;
}

interface ObjectInfo {
  id: string;
  type: string;
  size: number;
}

interface Question {
  /** The line that git answers for a name that does not exist. */
  missing: Buffer;
  withContents: boolean;
  resolve(answer: { info: ObjectInfo; contents: Uint8Array } | null): void;
  reject(error: Error): void;
}

interface Process {
  pid: number;
  ask(line: Buffer, question: Question): void;
  questions: Question[];
  end(error: Error): void;
}

/** An unused process is ended after this. */
const IDLE_MS = 20_000;
/** A process that takes longer is broken. */
const ANSWER_MS = 15_000;
/** The most processes over all mirrors; the least recently used one is ended. */
const PROCESSES_MAX = 24;

const running: { lastUsed: number; stop(): void }[] = [];

export function createObjects(engine: Engine, environment: Record<string, string>): Objects {
  let current: Process | null = null;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const handle = { lastUsed: 0, stop };

  return {
    info: async (name) => (await lookUpWithRetry(name, false))?.info ?? null,
    contents: async (name) => (await lookUpWithRetry(name, true))?.contents ?? null,
    stop,
  };

  /** If the process ends during a request, the request is repeated once, on a new process. */
  async function lookUpWithRetry(name: string, withContents: boolean) {
    try {
      return await ask(name, withContents).catch(() => ask(name, withContents));
    } catch (error) {
      engine.log.warn({ error: String(error) }, "git cat-file gave no answer");
      throw new SvcError(
        "merge_engine_failed",
        "Git gave no answer while looking up an object: its process ended twice.",
      );
    }
  }

  async function ask(name: string, withContents: boolean) {
    // a name is bytes in latin1: paths of a repository need not be UTF-8
    const bytes = Buffer.from(name, "latin1");
    current ??= start();
    handle.lastUsed = performance.now();
    const process = current;
    try {
      return await new Promise<{ info: ObjectInfo; contents: Uint8Array } | null>((resolve, reject) => {
        const missing = Buffer.concat([bytes, Buffer.from(" missing\n")]);
        const line = Buffer.concat([
          Buffer.from(withContents ? "contents " : "info "),
          bytes,
          Buffer.from([0]),
        ]);
        process.ask(line, { missing, withContents, resolve, reject });
      });
    } finally {
      clearTimeout(idle);
      idle = setTimeout(stop, IDLE_MS);
      idle.unref();
    }
  }

  function start(): Process {
    stopOldest(handle);
    const process = startProcess(engine, environment, () => {
      if (current === process) current = null;
    });
    return process;
  }

  function stop(): void {
    clearTimeout(idle);
    const at = running.indexOf(handle);
    if (at >= 0) running.splice(at, 1);
    current?.end(new Error("git cat-file was stopped"));
    current = null;
  }
}

function stopOldest(handle: { lastUsed: number; stop(): void }): void {
  if (!running.includes(handle)) running.push(handle);
  if (running.length <= PROCESSES_MAX) return;
  const others = running.filter((other) => other !== handle);
  others.sort((a, b) => a.lastUsed - b.lastUsed)[0]?.stop();
}

function startProcess(engine: Engine, environment: Record<string, string>, onEnd: () => void): Process {
  const child = engine.runner.open(["cat-file", "--batch-command", "-z"], environment);
  const questions: Question[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  /** The known minimum length of the next answer. */
  let needed = 0;
  void read();
  return { pid: child.pid, questions, ask, end };

  function ask(line: Buffer, question: Question): void {
    if (ended) {
      question.reject(new Error("git cat-file has ended"));
      return;
    }
    questions.push(question);
    timer ??= setTimeout(() => end(new Error("git cat-file did not answer")), ANSWER_MS);
    void writeAll(child.stdin, line);
  }

  function end(error: Error): void {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    engine.runner.end(child);
    onEnd();
    for (const question of questions.splice(0)) question.reject(error);
  }

  async function read(): Promise<void> {
    let chunks: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const chunk of child.stdout) {
        chunks.push(chunk);
        length += chunk.length;
        // joined only when an answer is complete: a large one arrives in hundreds of pieces
        if (length < needed) continue;
        const rest = answer(Buffer.concat(chunks));
        chunks = [rest];
        length = rest.length;
      }
    } catch {
      // handled like its end
    }
    end(new Error("git cat-file ended"));
  }

  /** Resolves the questions whose answers are complete. @returns the rest */
  function answer(bytes: Buffer): Buffer {
    let rest = bytes;
    for (;;) {
      const question = questions[0];
      if (!question) return rest;
      const read = readAnswer(rest, question);
      needed = "needed" in read ? read.needed : 0;
      if ("needed" in read) return rest;
      questions.shift();
      clearTimeout(timer);
      timer =
        questions.length > 0
          ? setTimeout(() => end(new Error("git cat-file did not answer")), ANSWER_MS)
          : undefined;
      rest = rest.subarray(read.length);
      question.resolve(read.answer);
    }
  }
}

type Read =
  | { length: number; answer: { info: ObjectInfo; contents: Uint8Array } | null }
  /** The answer is incomplete, and has at least this many bytes. */
  | { needed: number };

function readAnswer(bytes: Buffer, question: Question): Read {
  const { missing } = question;
  // the name may contain line ends, so compare it before searching for lines
  if (bytes.subarray(0, missing.length).equals(missing)) return { length: missing.length, answer: null };
  if (missing.subarray(0, bytes.length).equals(bytes)) return { needed: bytes.length + 1 };
  const lineEnd = bytes.indexOf(10);
  if (lineEnd < 0) return { needed: bytes.length + 1 };
  const [id = "", type = "", size = "0"] = bytes.toString("latin1", 0, lineEnd).split(" ");
  const info = { id, type, size: Number(size) };
  if (!question.withContents) return { length: lineEnd + 1, answer: { info, contents: EMPTY } };
  const end = lineEnd + 1 + info.size;
  if (bytes.length < end + 1) return { needed: end + 1 };
  return { length: end + 1, answer: { info, contents: Buffer.from(bytes.subarray(lineEnd + 1, end)) } };
}

const EMPTY = new Uint8Array();
