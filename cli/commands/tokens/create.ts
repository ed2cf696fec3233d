import type {
  MintedProjectToken,
  MintedUserToken,
  MintUserTokenBody,
} from "../../../src/contract/account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/tokens.ts";
import { defaultDays } from "../../table/tokens.ts";
import { tokensPath, withPlace } from "./at.ts";

const DAY_MS = 86_400_000;

export const create: Handler<typeof table.create> = async (context, { args, flags }) => {
  const days = flags.days ?? defaultDays;
  const body: MintUserTokenBody = {
    name: args.name,
    ...(flags.scope.length > 0 && { scopes: [...new Set(flags.scope)] }),
    ...(days > 0 && { expires_at: new Date(context.system.now() + days * DAY_MS).toISOString() }),
  };
  const at = await tokensPath(context, flags["for-project"]);
  const api = await context.api();
  const made = await api.call<MintedUserToken | MintedProjectToken>({ path: at, body });
  await context.out.result(withPlace(made), () => `${made.token}\n`);
  const until =
    made.expires_at === null ? "it does not expire" : `it expires on ${made.expires_at.slice(0, 10)}`;
  await context.out.note(`Keep it now: it is not shown again. Scopes: ${made.scopes.join(", ")}; ${until}.`);
};
