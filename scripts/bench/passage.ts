/** Listens on the unix socket that is named first, and passes connections on to the port that is named second. */
import { renameSync } from "node:fs";
import { openRelay } from "../../src/splice/relay.ts";

const [path = "", port = ""] = process.argv.slice(2);
const made = `${path}.new`;
await openRelay({ path: made }, () => ({ host: "127.0.0.1", port: Number(port) }), 8);
// a socket is a file before it listens
renameSync(made, path);
