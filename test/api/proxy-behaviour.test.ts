import { testProxyBehaviour, type Way } from "../helpers/behaviour.ts";
import { startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { SERVICE_KEY, startSandbox } from "../helpers/sandbox.ts";

// the API's proxy, and the daemon behind it
if (POSTGRES) testProxyBehaviour(open);
else needs("a real Postgres", false)("the API's proxy", () => {});

async function open(port: number): Promise<Way> {
  const [bench, sandbox] = await Promise.all([startGateway(), startSandbox()]);
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  const { hostname, port: daemonPort } = new URL(sandbox.url);
  const address = { serviceKey: SERVICE_KEY, host: hostname, port: Number(daemonPort) };
  const { sessionId } = sandbox;
  await bench.session(bench.hosted, "running", { sessionId, ...address });
  return {
    base: `${bench.api.url}/v1/p/${sessionId}/${port}`,
    headers: () => ({ Authorization: `Bearer ${bench.api.token}` }),
    processes: [sandbox.child.pid],
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      await bench.stop();
    },
  };
}
