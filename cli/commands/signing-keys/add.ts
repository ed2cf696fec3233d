import type { AddSigningKeyBody, SigningKey } from "../../../src/contract/signing-key.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/signing-keys.ts";
import { oneLine } from "../../text.ts";

export const add: Handler<typeof table.add> = async (context, { args, flags }) => {
  const key = (await readText(context, args.file, "<file>")).trim();
  const body: AddSigningKeyBody = { key, ...(flags.title !== undefined && { title: flags.title }) };
  const api = await context.api();
  const added = await api.call<SigningKey>({ path: "/users/me/signing-keys", body });
  await context.out.result(
    added,
    () => `Added the signing key ${added.id}, ${oneLine(added.title)} (${added.fingerprint}).\n`,
  );
};
