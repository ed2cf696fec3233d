import { testProxyBehaviour, type Way } from "../helpers/behaviour.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { startProxied } from "../helpers/proxied.ts";

// the API's proxy, and the daemon behind it
if (POSTGRES) testProxyBehaviour(open);
else needs("a real Postgres", false)("the API's proxy", () => {});

async function open(port: number): Promise<Way> {
  const { bench, sandbox, session, stop } = await startProxied();
  return {
    base: `${bench.api.url}/v1/p/${session.id}/${port}`,
    headers: () => ({ Authorization: `Bearer ${bench.api.token}` }),
    processes: [sandbox.child.pid],
    [Symbol.asyncDispose]: stop,
  };
}
