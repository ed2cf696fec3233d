import { serve } from "../../src/serve.ts";
import { testConfig } from "./isolation.ts";

/**
 * The server as a process that stops at the step of a push or a session which its parent names (`{ haltAt }`), tells it
 * (`{ reached }`), and goes on when told to (`{ go }`). TEST_GIT_LIMITS: limits of the git engine, as JSON; TEST_ORPHAN_S:
 * seconds instead of SVC_ORPHAN_MINUTES.
 */
let haltAt: unknown = null;
let go = () => {};

const config = testConfig(process.env);
const orphanS = Number(process.env["TEST_ORPHAN_S"] ?? config.orphanS);
const server = await serve(
  { ...config, orphanS },
  {
    gitLimits: JSON.parse(process.env["TEST_GIT_LIMITS"] ?? "{}"),
    async checkpoint(step) {
      if (step !== haltAt) return;
      haltAt = null;
      const going = Promise.withResolvers<void>();
      go = going.resolve;
      process.send?.({ reached: step });
      await going.promise;
    },
  },
);
process.on("message", (message: object) => {
  if ("haltAt" in message) haltAt = message.haltAt;
  if ("go" in message) go();
});
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
process.stderr.write(`the halting server listens on ${server.url}\n`);
