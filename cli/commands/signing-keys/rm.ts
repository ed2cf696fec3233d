import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/signing-keys.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args }) => {
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/users/me/signing-keys/${args.id}` });
  await context.out.result(
    { id: args.id, removed: true },
    () => `Removed the signing key ${oneLine(args.id)}.\n`,
  );
};
