import { serveDaemon } from "../../daemon/serve.ts";
import { readSettings } from "../../daemon/settings.ts";

/** The daemon as its own program, that saves work every TEST_SAVE_INTERVAL_MS. */
const settings = readSettings(process.env, null);
const daemon = serveDaemon(settings, { saveIntervalMs: Number(process.env["TEST_SAVE_INTERVAL_MS"]) });
process.on("SIGTERM", () => void daemon.stop().finally(() => process.exit(0)));
