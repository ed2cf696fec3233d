/** Listens on the unix socket that is named first, and passes connections on to the port that is named second. */
import { openRelay } from "../../src/splice/relay.ts";

const [path = "", port = ""] = process.argv.slice(2);
await openRelay({ path }, () => ({ host: "127.0.0.1", port: Number(port) }), 8);
