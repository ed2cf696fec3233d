import { expect, test } from "bun:test";
import { METHODS } from "node:http";
import { join } from "node:path";
import { createBody } from "../../src/splice/body.ts";
import { headLength, readRequestHead } from "../../src/splice/head.ts";
import { HeadError } from "../../src/splice/head-error.ts";
import { generator, type Random, SEED, share } from "../helpers/random.ts";

/** Each run reads some of them; `--full` all. */
const HEADS = share(6_000, 60_000);
const BATCH = 4_000;

interface Message {
  method: string;
  target: string;
  body: string;
}

/** All messages up to the first that is refused or not whole. */
function readAll(bytes: Buffer): { messages: Message[]; status: number | null } {
  const messages: Message[] = [];
  try {
    for (let rest = bytes; rest.length > 0; ) {
      const length = headLength(rest);
      if (length < 0) break;
      const head = readRequestHead(rest.subarray(0, length));
      let content = "";
      const body = createBody(head.framing, (piece) => {
        content += piece.toString("latin1");
      });
      const after = rest.subarray(length);
      const taken = body.take(after, 0);
      if (!body.ended) break;
      messages.push({ method: head.method, target: head.target, body: content });
      if (head.upgrade !== null || !head.keepAlive) break;
      rest = after.subarray(taken);
    }
  } catch (error) {
    if (!(error instanceof HeadError)) throw error;
    return { messages, status: error.status };
  }
  return { messages, status: null };
}

const bytes = (text: string) => Buffer.from(text, "latin1");

test("finds the end of a body with any split of its bytes", () => {
  const random = generator(7);
  for (let run = 0; run < 300; run++) {
    const wire = bytes(chunkedBody(random) + (random(2) === 0 ? "" : "next"));
    const whole = createBody({ kind: "chunked" });
    const end = whole.take(wire, 0);
    const pieces = createBody({ kind: "chunked" });
    let at = 0;
    while (at < wire.length && !pieces.ended) at += pieces.take(wire.subarray(at, at + 1 + random(5)), 0);
    expect([whole.ended, pieces.ended, at]).toEqual([true, true, end]);
  }
});

test(`llhttp agrees about the end of a message (${HEADS} heads)`, async () => {
  const random = generator(SEED);
  const reference = Bun.spawn(["node", "--no-warnings", join(import.meta.dir, "../helpers/llhttp.mjs")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const answers = lines(reference.stdout);
  let whole = 0;
  for (let made = 0; made < HEADS; made += BATCH) {
    const inputs = Array.from({ length: Math.min(BATCH, HEADS - made) }, () => bytes(mutated(random)));
    reference.stdin.write(`${inputs.map((input) => input.toString("base64")).join("\n")}\n`);
    await reference.stdin.flush();
    for (const input of inputs) {
      const ours = readAll(input);
      const { value } = await answers.next();
      const theirs: { messages: { method: number; url: string; body: string }[] } = JSON.parse(
        value ?? "null",
      );
      whole += ours.messages.length;
      for (const [index, message] of ours.messages.entries()) {
        // it knows a list of methods, we take any word
        if (!METHODS.includes(message.method)) break;
        const other = theirs.messages[index];
        const same = other?.url === message.target && other.body === message.body;
        if (!same)
          throw new Error(
            `we read ${JSON.stringify(ours)}, llhttp ${JSON.stringify(theirs)}: ${JSON.stringify(input.toString("latin1"))}`,
          );
      }
    }
  }
  await reference.stdin.end();
  expect(await reference.exited).toBe(0);
  // the generator also produces valid heads
  expect(whole).toBeGreaterThan(HEADS / 2);
});

function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[random(items.length)] ?? items[0];
}

function chunkedBody(random: Random): string {
  let text = "";
  for (let count = random(4); count > 0; count--) {
    const content = "abcdefghijklmnopqrstuvwxyz\r\n0".slice(0, 1 + random(28));
    text += `${content.length.toString(16)}${pick(random, ["", "", ";a=b", ';a="b c";d'])}\r\n${content}\r\n`;
  }
  return `${text}0\r\n${pick(random, ["", "", "X-Trailer: 1\r\n"])}\r\n`;
}

function message(random: Random): string {
  const method = pick(random, ["GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS"]);
  const target = pick(random, ["/", "/a?b=c", "/proxy/3000/x", "/%2e%2e/", "/a//b;c"]);
  const fields = [
    "Host: a:80",
    "Accept: */*",
    "X-Y:z",
    "Connection: keep-alive",
    "X-Empty:",
    "Cookie: a=b; c=d",
  ];
  const head = `${method} ${target} HTTP/1.1\r\n${fields.filter((_, index) => index === 0 || random(2) === 0).join("\r\n")}\r\n`;
  const kind = random(4);
  if (kind === 0)
    return `${head}Transfer-Encoding: ${pick(random, ["chunked", "Chunked"])}\r\n\r\n${chunkedBody(random)}`;
  if (kind === 1) {
    const body = "0123456789".slice(0, random(10));
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  }
  return `${head}\r\n`;
}

const PIECES = [
  "\r\n",
  "\n",
  "\r",
  " ",
  "\t",
  ":",
  "0",
  "\0",
  "\x7f",
  "\xff",
  ",",
  ";",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: identity\r\n",
  "Host: b\r\n",
  "content-length:4\r\n",
  " chunked",
  "Connection: close\r\n",
  "\r\n\r\n",
  "HTTP/1.0",
  "Upgrade: x\r\n",
  "GET / HTTP/1.1\r\n",
] as const;

/** One to three messages after each other, a few bytes of them changed, left out, doubled or put in. */
function mutated(random: Random): string {
  let text = Array.from({ length: 1 + random(3) }, () => message(random)).join("");
  for (let count = pick(random, [0, 1, 1, 2, 4]); count > 0; count--) {
    const at = random(text.length + 1);
    const length = random(4);
    const put = random(3) === 0 ? "" : pick(random, PIECES);
    text = text.slice(0, at) + put + text.slice(at + (random(2) === 0 ? length : 0));
  }
  return text;
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of stream) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return undefined;
}
