import type { ModelUpstream } from "../../../src/contract/model-upstream.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/models.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { model_upstreams: found } = await api.call<{ model_upstreams: ModelUpstream[] }>({
    path: path`/projects/${id}/model-upstreams`,
  });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0)
    await context.out.note(
      "Neither the project nor the server has a service for models. Next: svc models add --help",
    );
};

const COLUMNS: readonly Column<ModelUpstream>[] = [
  { title: "ID", value: ({ id }) => id, paint: (_, view) => view.paint.cyan },
  { title: "OF", value: ({ source }) => source },
  { title: "FORMAT", value: ({ format }) => format },
  { title: "URL", value: ({ url }) => url ?? "" },
  {
    title: "MODELS",
    value: ({ models }) => models?.map(({ id }) => id).join(", ") ?? "any",
    flexible: true,
  },
];
