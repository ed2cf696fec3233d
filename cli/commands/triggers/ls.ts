import type { Trigger, TriggerList } from "../../../src/contract/trigger.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/triggers.ts";
import { ago, ahead, type Column, table as tableOf } from "../../table-print.ts";
import { count, oneLine } from "../../text.ts";
import { when } from "./when.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { triggers, errors, failure } = await api.call<TriggerList>({ path: path`/projects/${id}/triggers` });
  await context.out.result(triggers, (view) =>
    triggers.length === 0 ? "" : tableOf(triggers, COLUMNS, view),
  );
  if (failure !== null) await context.out.warn(`The default branch could not be read: ${oneLine(failure)}`);
  const wrong = errors.filter(({ severity }) => severity === "error");
  if (wrong.length > 0)
    await context.out.warn(
      `svc.toml on the default branch has ${count(wrong.length, "error")}. Next: svc validate`,
    );
  else if (triggers.length === 0)
    await context.out.note("No triggers yet. Add [[triggers]] to svc.toml. Next: svc help triggers");
};

const COLUMNS: readonly Column<Trigger>[] = [
  { title: "SLUG", value: ({ slug }) => slug, paint: (_, view) => view.paint.cyan },
  { title: "FIRES", value: when, flexible: true },
  {
    title: "ENABLED",
    value: ({ enabled }) => String(enabled),
    shown: ({ enabled }) => (enabled ? "yes" : "no"),
  },
  {
    title: "NEXT",
    value: ({ next_fire_at }) => next_fire_at ?? "",
    shown: ({ next_fire_at }, view) => (next_fire_at === null ? "" : ahead(next_fire_at, view.now)),
  },
  {
    title: "LAST",
    value: ({ last_fired_at }) => last_fired_at ?? "",
    shown: ({ last_fired_at }, view) => (last_fired_at === null ? "" : ago(last_fired_at, view.now)),
  },
  {
    title: "PROBLEM",
    value: ({ last_error }) => last_error ?? "",
    paint: (_, view) => view.paint.red,
    flexible: true,
  },
];
