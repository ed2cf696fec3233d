import type { Decide } from "../src/splice/connection.ts";
import { type Listener, listen } from "../src/splice/listen.ts";
import { openRelay } from "../src/splice/relay.ts";
import { createExplain } from "./decide.ts";
import type { Settings } from "./settings.ts";

/** Listens on the daemon's port, and on its unix socket if the provider uses one. */
export function listenAsDaemon({ host, port, socket }: Settings, decide: Decide): Listener {
  const explain = createExplain();
  const own = listen({ hostname: host, port }, decide, explain);
  const other = socket === null ? null : listen({ unix: socket }, decide, explain);
  return {
    port: own.port,
    get connections() {
      return own.connections + (other?.connections ?? 0);
    },
    async stop(drainMs) {
      await Promise.all([own.stop(drainMs), other?.stop(drainMs)]);
    },
  };
}

/** Connections to one relay: more than a browser and a package manager open together. */
const RELAYED_MAX = 512;

/** Opens the relays out of a sandbox that has its own network namespace. @returns closes them */
export async function openRelays({ relays }: Pick<Settings, "relays">): Promise<() => void> {
  const open = await Promise.all(
    relays.map(({ port, path }) => openRelay({ host: "127.0.0.1", port }, () => ({ path }), RELAYED_MAX)),
  );
  return () => {
    for (const relay of open) relay.close();
  };
}
