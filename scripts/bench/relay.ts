/** Forwards connections from a unix socket (first argument) to a port (second argument). */
import { renameSync } from "node:fs";
import { openRelay } from "../../src/splice/relay.ts";

const [path = "", port = ""] = process.argv.slice(2);
const draft = `${path}.new`;
await openRelay({ path: draft }, () => ({ host: "127.0.0.1", port: Number(port) }), 8);
// the file of a socket exists before the socket listens
renameSync(draft, path);
