import { testProxyBehaviour } from "../helpers/behaviour.ts";
import { startSandbox } from "../helpers/sandbox.ts";

testProxyBehaviour(async (port) => {
  const sandbox = await startSandbox();
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  return {
    base: `${sandbox.url}/proxy/${port}`,
    headers: () => sandbox.headers(),
    processes: [sandbox.child.pid],
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
});
