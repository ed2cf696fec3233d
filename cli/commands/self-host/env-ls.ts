import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { type Column, table as tableOf } from "../../table-print.ts";
import { requireEnv } from "./env-file.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { isSecret } from "./settings.ts";
import { stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

export const envLs: Handler<typeof table.envLs> = async (context) => {
  notInSandbox(context);
  const stack = stackOf(context.system);
  await requireState(stack);
  const rows = [...(await requireEnv(stack))].map(([name, value]) => shown(name, value));
  await context.out.result(rows, (view) => tableOf(rows, COLUMNS, view));
};

export interface Shown {
  name: string;
  /** Masked if it is a secret; null if it is not set. */
  value: string | null;
  secret: boolean;
}

const MASK = "********";

/** A setting as it may be printed. */
export function shown(name: string, value: string | null): Shown {
  const secret = isSecret(name, value ?? "");
  return { name, value: secret && value !== null ? MASK : value, secret };
}

const COLUMNS: Column<Shown>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VALUE", value: ({ value }) => value ?? "", flexible: true },
];
