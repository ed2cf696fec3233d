import { serveDaemon } from "../../daemon/serve.ts";
import { readSettings } from "../../daemon/settings.ts";

/** The daemon as its own program, that looks for work to save every TEST_LOOK_MS. */
const settings = readSettings(process.env, null);
const daemon = serveDaemon(settings, { lookMs: Number(process.env["TEST_LOOK_MS"]) });
process.on("SIGTERM", () => void daemon.stop().finally(() => process.exit(0)));
