import { readConfig } from "../../src/config.ts";
import { serve } from "../../src/serve.ts";

/**
 * The server as a process that kills itself (SIGKILL) at the step of a merge that TEST_DIE_AT names, after it has passed that
 * step TEST_DIE_AFTER times.
 */
let left = Number(process.env["TEST_DIE_AFTER"] ?? 0);
const server = await serve(readConfig(process.env), {
  checkpoint(step) {
    if (step !== process.env["TEST_DIE_AT"] || left-- > 0) return;
    process.kill(process.pid, "SIGKILL");
    return new Promise<void>(() => {});
  },
});
process.stderr.write(`the dying server listens on ${server.url}\n`);
process.once("SIGTERM", () => void server.stop().then(() => process.exit(0)));
