import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/app-volume.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  const { id } = await context.project();
  if (!flags.yes && !context.canAsk()) throw usage("Deleting a volume needs --yes without a terminal.");
  if (!flags.yes) {
    const { confirmByName } = await import("../../prompt.ts");
    await confirmByName(`This deletes all data in the volume of the app ${args.slug}.`, args.slug);
  }
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/projects/${id}/apps/${args.slug}/volume` });
  const done = { slug: args.slug, removed: true };
  await context.out.result(done, () => `Removed the volume of ${oneLine(args.slug)}.\n`);
};
