import type { Session } from "../../../src/contract/session.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { ago } from "../../table-print.ts";
import { count } from "../../text.ts";
import { freeing } from "./new.ts";
import { type Found, findSession } from "./reference.ts";
import { outcome, shortId } from "./show-session.ts";
import { waits } from "./wait-flags.ts";
import { watch } from "./watch.ts";

export const restart: Handler<typeof table.restart> = async (context, { args, flags }) => {
  const wait = waits(flags);
  if (flags.restore && flags["no-restore"]) throw usage("--restore and --no-restore exclude each other.");
  const found = await findSession(context, args.id);
  const restore = flags.restore || (!flags["no-restore"] && (await isWanted(context, found)));
  const begun = await found.api
    .call<Session>({ method: "POST", path: `${found.path}/restart`, body: { restore }, slow: true })
    .catch((error: unknown) => {
      throw freeing(error);
    });
  const session = wait ? await watch(context, found, begun, "running") : begun;
  await context.out.result(session, (view) =>
    outcome(session, wait ? "running again" : "starts again", view),
  );
  if (!restore && session.saved !== null && !session.saved.live) await context.out.note(notBack(session));
  if (!wait) await context.out.note(`Next: svc sessions info ${shortId(begun)}`);
};

/** Whether a person wants the saved work back; where nobody can be asked, it stays where it is. */
async function isWanted(context: Context, found: Found): Promise<boolean> {
  if (!context.canAsk()) return false;
  const { saved } = await found.api.call<Session>({ path: found.path });
  if (saved === null) return false;
  const { confirm } = await import("../../prompt.ts");
  return await confirm(`Bring back the work saved ${ago(saved.at, Date.now())}${filesIn(saved)}?`, true);
}

function filesIn({ files }: NonNullable<Session["saved"]>): string {
  return files === null ? "" : ` (${count(files, "file")})`;
}

function notBack(session: Session): string {
  const id = shortId(session);
  return `Its saved work was not brought back. To look at it: svc sessions saved ${id}\nTo bring it back: svc sessions restart ${id} --restore`;
}

export const stop: Handler<typeof table.stop> = async (context, { args, flags }) => {
  const wait = waits(flags);
  const found = await findSession(context, args.id);
  const begun = await found.api.call<Session>({ method: "POST", path: `${found.path}/stop`, slow: true });
  const session = wait ? await watch(context, found, begun, "stopped") : begun;
  const sentence =
    session.status === "failed"
      ? "it had failed, and has no sandbox"
      : session.status === "stopped"
        ? "stopped"
        : "stops";
  await context.out.result(session, (view) => outcome(session, sentence, view));
  await context.out.note(`To start it again: svc sessions restart ${shortId(begun)}`);
};
