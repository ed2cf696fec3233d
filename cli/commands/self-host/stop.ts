import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { stackOf } from "./stack.ts";
import { requireState } from "./state.ts";
import { stopStack } from "./stop-stack.ts";

export const stop: Handler<typeof table.stop> = async (context) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const state = await requireState(stack);
  const stopped = await stopStack(system, stack, state);
  await out.result({ mode: state.mode, stopped }, () =>
    stopped ? "The server is stopped. Its data stays.\n" : "The server was not running.\n",
  );
};
