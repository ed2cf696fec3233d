import type { Firing, TriggerDetail } from "../../../src/contract/trigger.ts";
import { path } from "../../api.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/triggers.ts";
import { ago, ahead, type Column, sheet, table as tableOf } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { when } from "./when.ts";

export const info: Handler<typeof table.info> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const trigger = await api.call<TriggerDetail>({ path: path`/projects/${id}/triggers/${args.slug}` });
  await context.out.result(trigger, (view) => page(trigger, view));
  if (trigger.webhook_url !== null)
    await context.out.note(
      `Signed by the secret ${oneLine(trigger.secret_env ?? "")}: X-Svc-Signature: sha256=<HMAC-SHA256 of the body>`,
    );
  await context.out.note(`Next: svc triggers fire ${oneLine(trigger.slug)}`);
};

function page(trigger: TriggerDetail, view: View): string {
  const time = (value: string | null) => (value !== null && view.tty ? ago(value, view.now) : value);
  const { next_fire_at: next } = trigger;
  const facts = sheet(
    [
      ["slug", trigger.slug],
      ["name", trigger.name],
      ["fires", when(trigger)],
      ["enabled", String(trigger.enabled)],
      ["agent", trigger.agent],
      ["model", trigger.model],
      ["secrets", trigger.secrets && (trigger.secrets.join(", ") || "none")],
      ["next", next !== null && view.tty ? ahead(next, view.now) : next],
      ["last", time(trigger.last_fired_at)],
      ["problem", trigger.last_error],
      ["webhook", trigger.webhook_url],
      ["secret", trigger.secret_env],
      ["prompt", trigger.prompt],
    ],
    view,
  );
  return trigger.firings.length === 0 ? facts : `${facts}\n${tableOf(trigger.firings, COLUMNS, view)}`;
}

const COLUMNS: readonly Column<Firing>[] = [
  {
    title: "DUE",
    value: ({ due_at, due_until }) => (due_until === null ? due_at : `${due_at}/${due_until}`),
    shown: ({ due_at, due_until }, view) =>
      due_until === null ? ago(due_at, view.now) : `${ago(due_at, view.now)} to ${ago(due_until, view.now)}`,
  },
  { title: "STATE", value: ({ state }) => state },
  { title: "BY", value: ({ source }) => source },
  {
    title: "SESSION",
    value: ({ session_id }) => session_id ?? "",
    shown: ({ session_id }) => session_id?.slice(0, 8) ?? "",
    paint: (_, view) => view.paint.cyan,
  },
  { title: "ERROR", value: ({ error }) => error ?? "", flexible: true },
];
