import { createReadStream } from "node:fs";
import pino from "pino";
import { restore } from "../../src/backup/restore.ts";
import { readConfig } from "../../src/config.ts";

/** Restores a file, and is killed at a part. */
const [file = "", step = ""] = process.argv.slice(2);
await restore(readConfig(process.env), createReadStream(file), {
  log: pino({ level: "silent" }),
  onPart(part) {
    if (part === step) process.kill(process.pid, "SIGKILL");
  },
});
