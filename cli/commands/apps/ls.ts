import type { App } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { listOf } from "./show-app.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { apps } = await api.call<{ apps: App[] }>({ path: path`/projects/${id}/apps` });
  await context.out.result(apps, (view) => listOf(apps, view));
  if (apps.length === 0)
    await context.out.note(
      "No apps yet. Add [[apps]] to svc.toml, check it with svc validate, and merge it.",
    );
};
