import type { EditSessionBody, Session } from "../../../src/contract/session.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-choice.ts";
import { findSession } from "./reference.ts";
import { outcome } from "./show-session.ts";

/** The value of --agent and --effort that undoes a choice. */
const OWN = "default";

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  const body: EditSessionBody = {
    ...(flags.name !== undefined && { name: flags.name }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.agent !== undefined && { agent_name: flags.agent === OWN ? null : flags.agent }),
    ...(flags.mode !== undefined && { mode: flags.mode }),
    ...(flags.effort !== undefined && { effort: flags.effort === OWN ? null : flags.effort }),
  };
  if (Object.keys(body).length === 0)
    throw usage(
      "Nothing to change: use --name, --model, --agent, --mode or --effort.",
      "`svc sessions choices <id>` lists what there is.",
    );
  const { api, path } = await findSession(context, args.id);
  const session = await api.call<Session>({ method: "PATCH", path, body });
  const { name: _, ...choice } = body;
  const isLater = Object.keys(choice).length > 0 && session.status === "running";
  await context.out.result(session, (view) => outcome(session, "changed", view));
  if (isLater) await context.out.note("It applies to the next prompt.");
};
