import type { Session } from "../../../src/contract/session.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { freeing } from "./new.ts";
import { findSession } from "./reference.ts";
import { outcome, shortId } from "./show-session.ts";
import { waits } from "./waits.ts";
import { watch } from "./watch.ts";

export const restart: Handler<typeof table.restart> = async (context, { args, flags }) => {
  const wait = waits(flags);
  const found = await findSession(context, args.id);
  const begun = await found.api
    .call<Session>({ method: "POST", path: `${found.path}/restart`, slow: true })
    .catch((error: unknown) => {
      throw freeing(error);
    });
  const session = wait ? await watch(context, found, begun, "running") : begun;
  await context.out.result(session, (view) =>
    outcome(session, wait ? "running again" : "starts again", view),
  );
  if (!wait) await context.out.note(`Next: svc sessions info ${shortId(begun)}`);
};

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
