import { savedRef } from "../../src/contract/daemon.ts";
import type { Credential } from "../git/credential.ts";
import type { Settings } from "../settings.ts";
import { encodePktLines, parsePktLines } from "./pkt-line.ts";
import { SaveError } from "./save-error.ts";

/** The refs of the gateway, as listed for a push. */
export interface RemoteRefs {
  /** The objects of its branches and tags. */
  ids: string[];
  /** The tip of the session's branch. */
  tip: string | null;
  /** The commit of the ref of saved work. */
  saved: string | null;
  format: string;
}

/** The ref of saved work has moved since it was listed. */
export class StaleError extends Error {
  override readonly name = "StaleError";
}

/** 200,000 refs. */
const REFS_MAX_BYTES = 64 * 1024 * 1024;
/** The report of a push is a few lines. */
const REPORT_MAX_BYTES = 64 * 1024;
const SERVICE = "git-receive-pack";

/**
 * Lists the refs of the gateway (gitprotocol-http, "Smart Server Response").
 * @throws SaveError
 */
export async function listRefs(
  { repoUrl, branch, sessionId }: Settings,
  credential: Credential,
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const answer = await request(`${repoUrl}/info/refs?service=${SERVICE}`, credential, { signal });
  const refs = new Map<string, string>();
  let format = "sha1";
  for (const line of parsePktLines(await readAll(answer, REFS_MAX_BYTES))) {
    const [, id, ref, capabilities = ""] = /^([0-9a-f]+) ([^\0\n]+)(?:\0([^\n]*))?\n?$/.exec(line) ?? [];
    format = /(?:^| )object-format=(\w+)/.exec(capabilities)?.[1] ?? format;
    if (id !== undefined && ref !== undefined && ref !== "capabilities^{}") refs.set(ref, id);
  }
  const saved = refs.get(savedRef(sessionId)) ?? null;
  refs.delete(savedRef(sessionId));
  return { ids: [...new Set(refs.values())], tip: refs.get(`refs/heads/${branch}`) ?? null, saved, format };
}

/**
 * Uploads unpushed work: pushes a commit to the ref of saved work, or deletes the ref (gitprotocol-pack, "Pushing Data To
 * a Server"). The daemon speaks the protocol itself, so that no git process of the agent gets the credential.
 * @param pack the objects that the server does not have; null to delete the ref
 * @throws SaveError, StaleError
 */
export async function pushSaved(
  { repoUrl, sessionId }: Settings,
  credential: Credential,
  { from, to, format }: { from: string | null; to: string | null; format: string },
  pack: AsyncIterable<Uint8Array> | null,
  signal: AbortSignal,
): Promise<void> {
  const ref = savedRef(sessionId);
  const zero = "0".repeat(format === "sha256" ? 64 : 40);
  const command = `${from ?? zero} ${to ?? zero} ${ref}\0 report-status delete-refs object-format=${format} agent=svc-agent\n`;
  const answer = await request(`${repoUrl}/${SERVICE}`, credential, {
    method: "POST",
    headers: {
      "Content-Type": `application/x-${SERVICE}-request`,
      Accept: `application/x-${SERVICE}-result`,
    },
    body: concat(encodePktLines([command]), pack),
    signal,
  });
  const report = parsePktLines(await readAll(answer, REPORT_MAX_BYTES));
  const [unpack = "", verdict = ""] = report.map((line) => line.trimEnd());
  if (unpack === "unpack ok" && verdict === `ok ${ref}`) return;
  const words = verdict.startsWith(`ng ${ref} `)
    ? verdict.slice(ref.length + 4)
    : unpack.replace(/^unpack /, "");
  if (
    /fetch first|stale|failed to (?:update|lock)|cannot lock|reference already exists|but expected/i.test(
      words,
    )
  )
    throw new StaleError(words);
  const why = unpack === "unpack ok" || unpack === "" ? words : unpack.replace(/^unpack /, "");
  throw new SaveError(`svc refused the work: ${plain(why) || "it gave no reason"}.`);
}

async function request(url: string, { username, token }: Credential, init: RequestInit): Promise<Response> {
  const basic = Buffer.from(`${username}:${token}`).toString("base64");
  const answer = await fetch(url, {
    ...init,
    headers: { ...init.headers, Authorization: `Basic ${basic}` },
    redirect: "manual",
  }).catch((error: unknown) => {
    if (error instanceof SaveError) throw error;
    init.signal?.throwIfAborted();
    throw new SaveError("svc's git gateway cannot be reached.");
  });
  if (answer.status === 200) return answer;
  const words = await readAll(answer, REPORT_MAX_BYTES).catch(() => Buffer.alloc(0));
  throw new SaveError(
    `svc's git gateway returned status ${answer.status}: ${plain(words.toString()) || "no message"}`,
  );
}

async function readAll(answer: Response, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new SaveError("svc's git gateway returned a response that is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function concat(head: Uint8Array, pack: AsyncIterable<Uint8Array> | null): BodyInit {
  if (!pack) return Buffer.from(head);
  const whole = async function* () {
    yield head;
    yield* pack;
  };
  const parts = whole();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

const WORDS_MAX = 300;

function plain(words: string): string {
  return words
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, WORDS_MAX);
}
