import type { Deployment } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { oneLine } from "../../text.ts";
import { deploymentsOf } from "./show-app.ts";

/** More than the server keeps. */
const SHOWN_MAX = 200;

export const history: Handler<typeof table.history> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const at = path`/projects/${id}/apps/${args.slug}/deployments`;
  const found = await api.list<Deployment>({ path: at }, "deployments", SHOWN_MAX);
  await context.out.result(found, (view) => deploymentsOf(found, view));
  const slug = oneLine(args.slug);
  await context.out.note(
    found.length === 0
      ? "The app has no deployment yet."
      : `Next: svc apps diff ${slug} <number>, or svc apps rollback ${slug} <number>`,
  );
};
