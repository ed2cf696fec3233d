import { RUNTIME_VERSION } from "../../../src/contract/runtime.ts";
import type { Context } from "../../context.ts";
import { runApi } from "./api-program.ts";
import type { Env } from "./env-file.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/** The size of the agent runtime on disk: the program and the packages of its plugins. */
const RUNTIME_MB = 230;
const INSTALL_MS = 20 * 60_000;

/**
 * Installs the agent runtime if it is missing and `wanted`, or if the person agrees on the terminal.
 * @returns whether sessions have a runtime
 */
export async function prepareRuntime(
  context: Context,
  stack: Stack,
  state: State,
  env: Env,
  wanted: boolean,
): Promise<boolean> {
  const { system, out } = context;
  if ((await runApi(system, stack, state, ["runtime", "status"])).code === 0) return true;
  const from = env.get("SVC_NPM_REGISTRY") || "registry.npmjs.org";
  if (!wanted && !(context.canAsk() && (await ask(from)))) return false;
  await out.note(`Installing opencode ${RUNTIME_VERSION} from ${from} …`);
  const options = { ms: INSTALL_MS, show: !out.quiet && !out.data.json };
  const { code } = await runApi(system, stack, state, ["runtime", "install"], options);
  if (code !== 0)
    await out.warn(
      "The agent runtime could not be installed. Try again later: svc self-host start --install-runtime",
    );
  return code === 0;
}

async function ask(from: string): Promise<boolean> {
  const { confirm } = await import("../../prompt.ts");
  const what = `opencode ${RUNTIME_VERSION}, ${RUNTIME_MB} MB, from ${from}`;
  return confirm(`Sessions need an agent runtime. Install ${what}?`, true);
}
