import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { MergeQueue } from "../../../src/contract/merge-queue.ts";
import { type Api, path } from "../../api.ts";
import { byAuthor } from "../../author-text.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-merge.ts";
import { ago, type Column, table as print } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { checksText } from "./checks.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

/** The interval of polls, doubled with each from the first to the last: a queue without checks is fast. */
const POLL_MS = { first: 250, last: 3_000 };
/** The default of --timeout with --watch: several results that are tested one after the other. */
const WATCH_SECONDS = 3 * 3_600;

export const queue: Handler<typeof table.queue> = async (context, { args, flags }) => {
  const { out } = context;
  const show = (entries: readonly ChangeRequest[]) =>
    out.result(entries, (view) => (entries.length === 0 ? "" : print(entries, COLUMNS, view)));
  if (args.cr !== undefined) {
    if (flags.base !== undefined)
      throw usage("--base cannot be used with a change request.", "Leave it out.");
    const found = await findCr(context, args.cr);
    const cr = await readCr(found);
    const isQueued = cr.status === "open" && cr.queue?.position != null;
    if (!isQueued) await out.note(`#${cr.number} is not in a merge queue.`);
    if (!isQueued || !flags.watch) return await show(isQueued ? [cr] : []);
    const landed = await followQueue(context, found, cr);
    return await out.result([landed], (view) => outcome(landed, `merged into ${landed.base_ref}`, view));
  }
  const { id } = await context.project();
  const api = await context.api();
  const query = flags.base === undefined ? {} : { base: flags.base };
  const read = () => api.call<MergeQueue>({ path: path`/projects/${id}/queue`, query });
  const { base_ref, entries } = await (flags.watch ? followAll(context, api, read) : read());
  await show(entries);
  if (entries.length === 0) await out.note(`The merge queue of ${oneLine(base_ref)} is empty.`);
};

/** Notes what happens in a queue until it is empty. @throws CliError when the time is up */
async function followAll(
  { globals, out }: Context,
  api: Api,
  read: () => Promise<MergeQueue>,
): Promise<MergeQueue> {
  const ends = Date.now() + (globals.timeout ?? WATCH_SECONDS) * 1000;
  /** The path of each entry, and what was noted of it last. */
  const known = new Map<string, string>();
  for (let pause = POLL_MS.first; ; pause = Math.min(POLL_MS.last, pause * 2)) {
    const found = await read();
    const queued = new Map(found.entries.map((cr) => [pathOf(cr), `#${cr.number} ${queueText(cr) ?? ""}`]));
    for (const at of known.keys())
      if (!queued.has(at)) await out.note(leftText(await readCr({ api, path: at })));
    for (const [at, text] of queued) if (known.get(at) !== text) await out.note(text);
    known.clear();
    for (const [at, text] of queued) known.set(at, text);
    if (queued.size === 0) return found;
    if (Date.now() >= ends)
      throw new CliError("still_queued", `The merge queue of ${oneLine(found.base_ref)} is not empty.`, {
        hint: "Its change requests land without this command. See the queue with: svc cr queue",
      });
    await Bun.sleep(pause);
  }
}

const pathOf = ({ project_id, number }: ChangeRequest): string =>
  path`/projects/${project_id}/change-requests/${number}`;

function leftText({ number, status, queue: entry }: ChangeRequest): string {
  return status === "merged"
    ? `#${number} was merged.`
    : `#${number} left the merge queue and was not merged. ${oneLine(entry?.reason ?? "")}`.trimEnd();
}

export const dequeue: Handler<typeof table.dequeue> = async (context, { args }) => {
  const { api, path: at } = await findCr(context, args.cr);
  const cr = await api.call<ChangeRequest>({ method: "DELETE", path: `${at}/queue` });
  await context.out.result(cr, (view) => outcome(cr, "not in the merge queue", view));
};

/** `waits at position 2, its merged result is tested: 1 of 2 passed`; null if it is not in a queue, and was not. */
export function queueText({ queue: entry }: ChangeRequest): string | null {
  if (entry === null) return null;
  if (entry.position === null) return `removed. ${oneLine(entry.reason ?? "")}`;
  const checks = entry.checks && checksText(entry.checks);
  const tested =
    entry.tested_commit_sha === null ? "" : `, ${entry.tested_commit_sha.slice(0, 10)} is tested`;
  return `position ${entry.position}${tested}${checks === null ? "" : `: ${checks}`}`;
}

/**
 * Waits until a change request of a merge queue has landed.
 * @throws CliError when it leaves the queue in another way, or when the time is up
 */
export async function followQueue(
  context: Context,
  found: Found,
  queued: ChangeRequest,
): Promise<ChangeRequest> {
  const ends = Date.now() + (context.globals.timeout ?? WATCH_SECONDS) * 1000;
  let cr = queued;
  let said = "";
  let pause = POLL_MS.first;
  while (cr.status === "open" && cr.queue?.position != null) {
    const text = queueText(cr) ?? "";
    if (text !== said) await context.out.note(text);
    said = text;
    if (Date.now() >= ends)
      throw new CliError("still_queued", `#${cr.number} is still in the merge queue.`, {
        hint: "It stays there, and lands without this command. See the queue with: svc cr queue",
      });
    await Bun.sleep(pause);
    pause = Math.min(POLL_MS.last, pause * 2);
    cr = await readCr(found);
  }
  if (cr.status === "merged") return cr;
  const why = cr.queue?.reason ?? (cr.status === "closed" ? "It was closed." : "It was removed.");
  throw new CliError("dequeued", `#${cr.number} left the merge queue and was not merged. ${oneLine(why)}`);
}

const COLUMNS: readonly Column<ChangeRequest>[] = [
  { title: "POSITION", value: ({ queue: entry }) => String(entry?.position ?? "") },
  { title: "CR", value: ({ number }) => String(number), shown: ({ number }) => `#${number}` },
  { title: "TITLE", value: ({ title }) => title, flexible: true },
  { title: "STATE", value: ({ queue: entry }) => entry?.state ?? "" },
  {
    title: "RESULT",
    value: ({ queue: entry }) => entry?.tested_commit_sha ?? "",
    shown: ({ queue: entry }) => entry?.tested_commit_sha?.slice(0, 10) ?? "",
  },
  { title: "CHECKS", value: ({ queue: entry }) => (entry?.checks && checksText(entry.checks)) ?? "" },
  {
    title: "QUEUED",
    value: ({ queue: entry }) => entry?.queued_at ?? "",
    shown: ({ queue: entry }, view) =>
      entry === null ? "" : `${ago(entry.queued_at, view.now)}${byAuthor(entry.queued_by)}`,
  },
];
