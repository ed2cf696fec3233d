import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { usage } from "../../failure.ts";
import type { System } from "../../system.ts";

/** The files of one self-hosted server, all below `dir`. */
export interface Stack {
  /** `~/.svc/self-host`, or the folder that SVC_SELF_HOST_DIR names. */
  dir: string;
  /** Settings and secrets, as a dotenv file (0600). */
  envFile: string;
  /** How the server runs (`State`), 0600. */
  stateFile: string;
  /** The programs that the server runs from: svc-api, svc-agent, svc-entrypoint and svc. */
  bin: string;
  /** The data folder of a native server. On Docker Compose the data is in volumes. */
  data: string;
  composeFile: string;
  /** A file of the operator's that Compose merges, if it exists. */
  overrideFile: string;
  dockerfile: string;
  caddyfile: string;
  backups: string;
  /** The native server's log; the one before it is `server.log.1`. */
  log: string;
  /** The process ids of the native server, while it runs. */
  processFile: string;
  /** Held by the native server's supervisor, while it runs. */
  lockFile: string;
  /** The name of the Compose project and of the service; unique for each `dir`. */
  project: string;
}

/** The limit of the server for its data folder: sockets are in it. */
const DATA_MAX_BYTES = 90;
const PROJECT = "svc-self-host";
/** Characters of the folder's hash in the name of a project in another folder. */
const HASH_LENGTH = 8;

/** @throws CliError `usage` if SVC_SELF_HOST_DIR is not an absolute path, or too long. */
export function stackOf({ env }: Pick<System, "env">): Stack {
  const home = env["HOME"] || homedir();
  const given = env["SVC_SELF_HOST_DIR"];
  const dir = (given || join(home, ".svc", "self-host")).replace(/(?<=.)\/+$/, "");
  if (!isAbsolute(dir)) throw usage("SVC_SELF_HOST_DIR must be an absolute path.");
  const data = join(dir, "data");
  if (Buffer.byteLength(data) > DATA_MAX_BYTES) {
    throw usage(
      `The folder of the self-hosted server is too long a path: ${dir}.`,
      `Set SVC_SELF_HOST_DIR to a folder of at most ${DATA_MAX_BYTES - "/data".length} bytes.`,
    );
  }
  return {
    dir,
    envFile: join(dir, "env"),
    stateFile: join(dir, "state.json"),
    bin: join(dir, "bin"),
    data,
    composeFile: join(dir, "compose.yml"),
    overrideFile: join(dir, "compose.override.yml"),
    dockerfile: join(dir, "Dockerfile"),
    caddyfile: join(dir, "Caddyfile"),
    backups: join(dir, "backups"),
    log: join(dir, "server.log"),
    processFile: join(dir, "server.json"),
    lockFile: join(dir, "lock"),
    project: given ? `${PROJECT}-${hashOf(dir)}` : PROJECT,
  };
}

/** The programs of before the last update, while it runs and after it. */
export const previousOf = ({ bin }: Stack): string => `${bin}.prev`;

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
