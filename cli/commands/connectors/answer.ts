import type { AnswerAskBody, ConnectorAsk } from "../../../src/contract/connector.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { oneLine } from "../../text.ts";

export const approve: Handler<typeof table.approve> = async (context, { args }) =>
  await answer(context, args.ask, { answer: "approve" });

export const deny: Handler<typeof table.deny> = async (context, { args, flags }) =>
  await answer(context, args.ask, {
    answer: "deny",
    ...(flags.message !== undefined && { message: flags.message }),
  });

async function answer(context: Context, name: string, body: AnswerAskBody): Promise<void> {
  const { id } = await context.project();
  const api = await context.api();
  const { asks } = await api.call<{ asks: ConnectorAsk[] }>({
    path: `${path`/projects/${id}/connector-asks`}?state=pending`,
  });
  const [ask, other] = asks.filter(({ ask_id }) => name !== "" && ask_id.startsWith(name.toLowerCase()));
  if (ask === undefined || other !== undefined) {
    const shown = oneLine(name.slice(0, 80));
    const why =
      ask === undefined ? `No call with the id "${shown}" waits.` : `Several ids begin with "${shown}".`;
    throw new CliError("not_found", why, { hint: "List them with: svc connectors asks --all" });
  }
  const answered = await api.call<ConnectorAsk>({
    method: "POST",
    path: path`/projects/${id}/connector-asks/${ask.ask_id}/answer`,
    body,
  });
  const verb = body.answer === "approve" ? "Approved" : "Denied";
  await context.out.result(
    answered,
    () => `${verb} ${oneLine(answered.tool)} of ${answered.connector}, with ${oneLine(answered.arguments)}\n`,
  );
}
