import type { ModelUpstream } from "../../../src/contract/model-upstream.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/models.ts";
import { type Column, table as tableOf } from "../../table-print.ts";
import { upstreamsPath } from "./at.ts";

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const at = await upstreamsPath(context, flags);
  const api = await context.api();
  const { model_upstreams: found } = await api.call<{ model_upstreams: ModelUpstream[] }>({ path: at });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0)
    await context.out.note(
      flags.server
        ? "The server has no model upstreams. Next: svc models add --help"
        : "Neither the project nor the server has a model upstream. Next: svc models add --help",
    );
};

const COLUMNS: readonly Column<ModelUpstream>[] = [
  { title: "ID", value: ({ id }) => id, paint: (_, view) => view.paint.cyan },
  { title: "OF", value: ({ source, overridden }) => (overridden ? `${source} (not used)` : source) },
  { title: "FORMAT", value: ({ format }) => format },
  { title: "URL", value: ({ url }) => url ?? "" },
  {
    title: "MODELS",
    value: ({ models }) => models?.map(({ id }) => id).join(", ") ?? "any",
    flexible: true,
  },
];
