import type { Session } from "../../../src/contract/session.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { ago } from "../../table-print.ts";
import { count } from "../../text.ts";
import { withLimitHint } from "./new.ts";
import { type Found, findSession } from "./reference.ts";
import { outcome, shortId } from "./show-session.ts";
import { shouldWait } from "./wait-flags.ts";
import { watch } from "./watch.ts";

export const restart: Handler<typeof table.restart> = async (context, { args, flags }) => {
  const wait = shouldWait(flags);
  if (flags.restore && flags["no-restore"])
    throw usage("--restore and --no-restore cannot be used together.");
  const found = await findSession(context, args.id);
  const restore = flags.restore || (!flags["no-restore"] && (await confirmRestore(context, found)));
  const started = await found.api
    .call<Session>({ method: "POST", path: `${found.path}/restart`, body: { restore }, slow: true })
    .catch((error: unknown) => {
      throw withLimitHint(error);
    });
  const session = wait ? await watch(context, found, started, "running") : started;
  await context.out.result(session, (view) => outcome(session, wait ? "running again" : "restarting", view));
  if (!restore && session.saved !== null && !session.saved.live) await context.out.note(notRestored(session));
  if (!wait) await context.out.note(`Next: svc sessions info ${shortId(started)}`);
};

/** Prompts whether to restore the saved work; false without a terminal. */
async function confirmRestore(context: Context, found: Found): Promise<boolean> {
  if (!context.canAsk()) return false;
  const { saved } = await found.api.call<Session>({ path: found.path });
  if (saved === null) return false;
  const { confirm } = await import("../../prompt.ts");
  return await confirm(`Restore the work saved ${ago(saved.at, Date.now())}${filesIn(saved)}?`, true);
}

function filesIn({ files }: NonNullable<Session["saved"]>): string {
  return files === null ? "" : ` (${count(files, "file")})`;
}

function notRestored(session: Session): string {
  const id = shortId(session);
  return `Its saved work was not restored. To see it: svc sessions saved ${id}\nTo restore it: svc sessions restart ${id} --restore`;
}

export const stop: Handler<typeof table.stop> = async (context, { args, flags }) => {
  const wait = shouldWait(flags);
  const found = await findSession(context, args.id);
  const started = await found.api.call<Session>({ method: "POST", path: `${found.path}/stop`, slow: true });
  const session = wait ? await watch(context, found, started, "stopped") : started;
  const sentence =
    session.status === "failed"
      ? "it had failed and has no sandbox"
      : session.status === "stopped"
        ? "stopped"
        : "stopping";
  await context.out.result(session, (view) => outcome(session, sentence, view));
  await context.out.note(`To restart it: svc sessions restart ${shortId(started)}`);
};
