import type { SentToSession } from "../../../src/contract/comment.ts";
import type { Context } from "../../context.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-session.ts";
import { oneLine } from "../../text.ts";
import { type Found, findCr } from "./reference.ts";

export const send: Handler<typeof table.send> = async (context, { args }) => {
  await handOver(context, await findCr(context, args.cr), "send-to-session", "Sent the open threads");
};

export const resolveConflicts: Handler<typeof table.resolveConflicts> = async (context, { args }) => {
  await handOver(context, await findCr(context, args.cr), "resolve-conflicts", "Sent the conflicts");
};

/** Prompts the agent that works on the change request. */
export async function handOver(
  { out }: Context,
  { api, path }: Found,
  verb: string,
  what: string,
): Promise<void> {
  const call = { method: "POST", path: `${path}/${verb}`, body: {}, slow: true } as const;
  const sent = await api.call<SentToSession>(call);
  const id = oneLine(sent.session_id);
  await out.result(sent, () => `${what} to ${sent.created ? "a new session" : "the session"} ${id}.\n`);
  await out.note(`To follow it: svc sessions chat ${id}`);
}
