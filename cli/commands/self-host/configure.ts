import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import type { Handler, Input } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { QUESTIONS } from "./configure-questions.ts";
import { requireEnv } from "./env-file.ts";
import { applyChanges } from "./env-set.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { changesOf } from "./prepare.ts";
import { stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

type Flags = Input<typeof table.configure>["flags"];

export const configure: Handler<typeof table.configure> = async (context, { flags }) => {
  notInSandbox(context);
  const stack = stackOf(context.system);
  const state = await requireState(stack);
  const env = await requireEnv(stack);
  const given = await fromFlags(context, flags, state.mode);
  if (given.size > 0) return applyChanges(context, stack, state, given);
  if (!context.canAsk()) {
    throw usage(
      "Without a terminal the answers must be flags.",
      `For example: svc self-host configure --${QUESTIONS[0]?.flag} <…>. See svc self-host configure --help.`,
    );
  }
  const { askAll } = await import("./configure-wizard.ts");
  const answers = new Map<string, string>();
  for (;;) {
    for (const [name, value] of await askAll(new Map([...env, ...answers]), state.mode)) {
      answers.set(name, value);
    }
    if (answers.size === 0) return context.out.note("Nothing was changed.");
    try {
      return await applyChanges(context, stack, state, answers);
    } catch (error) {
      if (!(error instanceof CliError && error.code === "usage")) throw error;
      await context.out.warn(`${error.message} Correct the answer; Enter keeps the others.`);
    }
  }
};

async function fromFlags(
  context: Context,
  flags: Flags,
  mode: Parameters<typeof changesOf>[1],
): Promise<Map<string, string>> {
  const publicUrl = flags["public-url"] || undefined;
  const changes = changesOf({ listen: flags.listen, publicUrl }, mode);
  if (flags["public-url"] === "") changes.set("SVC_PUBLIC_URL", "");
  const dashes = QUESTIONS.filter(({ flag }) => flags[flag] === "-");
  if (dashes.length > 1) {
    throw usage(`Standard input holds one value: ${dashes.map(({ flag }) => `--${flag}`).join(" and ")}.`);
  }
  for (const { flag, setting, secret } of QUESTIONS) {
    const value = flags[flag];
    if (value === undefined || changes.has(setting) || flag === "listen") continue;
    changes.set(setting, secret && value === "-" ? await readSecret(context, value, `--${flag}`) : value);
  }
  return changes;
}
