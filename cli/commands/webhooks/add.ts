import type { WebhookWithSecret } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { oneLine } from "../../text.ts";

export const add: Handler<typeof table.add> = async (context, { args, flags }) => {
  if (flags.secret !== undefined && flags.secret !== "-")
    throw usage("--secret must be `-`: a secret on the command line would be in the shell's history.");
  if (flags.secret === "-" && args.url === "-")
    throw usage("Standard input holds one value: only one of the URL and --secret can be `-`.");
  const url = await readUrl(context, args.url, "url");
  const secret = flags.secret === undefined ? undefined : await readSecret(context, "-", "--secret");
  const { id } = await context.project();
  const api = await context.api();
  const made = await api.call<WebhookWithSecret>({
    method: "POST",
    path: path`/projects/${id}/webhooks`,
    body: {
      url,
      ...(flags.events !== undefined && { events: readEvents(flags.events) }),
      ...(flags.format !== undefined && { format: flags.format }),
      ...(secret !== undefined && { secret }),
    },
  });
  await context.out.result(made, () => said(made, secret === undefined));
  await context.out.note(`Next: svc webhooks test ${made.webhook_id.slice(0, 8)}`);
};

function said({ webhook_id, secret }: WebhookWithSecret, isShown: boolean): string {
  const id = webhook_id.slice(0, 8);
  return `Added webhook ${id}.\n${isShown ? `Secret, shown only now: ${oneLine(secret ?? "")}\n` : ""}`;
}

/** A URL, or the one on standard input. */
export async function readUrl(context: Context, given: string, name: string): Promise<string> {
  return given === "-" ? (await readSecret(context, "-", name)).trim() : given;
}

/** The entries of `--events`; the server checks them. */
export function readEvents(text: string): string[] {
  return text.split(",").map((entry) => entry.trim());
}
