import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { requireEnv, writeEnv } from "./env-file.ts";
import { shown } from "./env-ls.ts";
import { isRunning, look } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { checkSetting } from "./settings.ts";
import { type Stack, stackOf } from "./stack.ts";
import { requireState, type State } from "./state.ts";
import { validateSettings } from "./validate-settings.ts";

export const envSet: Handler<typeof table.envSet> = async (context, { args }) => {
  notInSandbox(context);
  const stack = stackOf(context.system);
  const state = await requireState(stack);
  const pairs = args["NAME=VALUE"].map(readPair);
  if (pairs.filter(([, value]) => value === "-").length > 1) {
    throw usage("Standard input holds one value: only one NAME=- is allowed.");
  }
  const changes = new Map<string, string>();
  for (const [name, value] of pairs) {
    // the name first: no prompt for a value that cannot be set
    checkSetting(name, value === "-" ? "" : value, state.mode);
    changes.set(name, value === "-" ? await readSecret(context, value, `${name}=-`) : value);
  }
  await applyChanges(context, stack, state, changes);
};

/**
 * Checks and stores settings, and prints them and when they take effect. An empty value removes a setting.
 * @throws CliError `usage`, before anything is stored
 */
export async function applyChanges(
  context: Context,
  stack: Stack,
  state: State,
  changes: ReadonlyMap<string, string>,
): Promise<void> {
  const { system, out } = context;
  for (const [name, value] of changes) checkSetting(name, value, state.mode);
  const env = await requireEnv(stack);
  for (const [name, value] of changes) {
    if (value === "") env.delete(name);
    else env.set(name, value);
  }
  await validateSettings(context, stack, state, env, changes);
  await writeEnv(stack, env);
  const running = isRunning(await look(system, stack, state));
  const applies = running ? "after a restart" : "at the next start";
  const rows = [...changes].map(([name, value]) => ({
    ...shown(name, value === "" ? null : value),
    applies,
  }));
  await out.result(rows, () =>
    rows.map(({ name, value }) => `${name} is ${value === null ? "removed" : "set"}.\n`).join(""),
  );
  await out.note(
    running
      ? "It takes effect after a restart: svc self-host stop, then svc self-host start."
      : "It takes effect at the next start: svc self-host start.",
  );
}

function readPair(text: string): [name: string, value: string] {
  const equals = text.indexOf("=");
  // not printed: it may be a value without its name
  if (equals < 1)
    throw usage(
      "A setting must be NAME=VALUE, such as SVC_IDLE_TIMEOUT=600.",
      "`NAME=-` reads the value from standard input.",
    );
  return [text.slice(0, equals), text.slice(equals + 1)];
}
