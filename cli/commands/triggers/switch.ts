import type { Switched } from "../../../src/contract/trigger.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/triggers.ts";
import { oneLine } from "../../text.ts";

export const enable: Handler<typeof table.enable> = (context, { args }) => set(context, args.slug, true);
export const disable: Handler<typeof table.disable> = (context, { args }) => set(context, args.slug, false);

async function set(context: Context, slug: string, enabled: boolean): Promise<void> {
  const { id } = await context.project();
  const api = await context.api();
  const switched = await api.call<Switched>({
    method: "PATCH",
    path: path`/projects/${id}/triggers/${slug}`,
    body: { enabled },
    slow: true,
  });
  await context.out.result(switched, () => `${said(switched)}\n`);
  const number = switched.change_request?.number;
  if (switched.status === "open") {
    await context.out.note(`Not merged: ${oneLine(switched.reason ?? "")}`);
    await context.out.note(`Next: svc cr show ${number}`);
  }
}

function said({ slug, enabled, status, change_request }: Switched): string {
  const name = oneLine(slug);
  const state = enabled ? "enabled" : "disabled";
  if (status === "unchanged") return `${name} is already ${state}.`;
  if (status === "merged") return `${name} is ${state}: change request #${change_request?.number} is merged.`;
  return `${name} will be ${state} when change request #${change_request?.number} is merged.`;
}
