import { Duplex } from "node:stream";
import ssh2, { type AuthContext, type Connection, type ParsedKey } from "ssh2";
import { parseJson, textField } from "../../src/contract/json.ts";
import type { SshKeys } from "../../src/contract/ssh.ts";
import { connectForward } from "./forward.ts";
import { endPrograms } from "./run-in-channel.ts";
import { serveSession } from "./session.ts";

declare module "ssh2" {
  interface Server {
    /** Serves a connection that was not accepted from a port. */
    injectSocket(stream: Duplex): void;
  }
}

/** The line with the keys: far more than two of them. */
const KEYS_MAX_BYTES = 16 * 1024;
/** Of one connection at once: an editor has a dozen programs, and a connection for each request of a page. */
const SESSIONS_MAX = 64;
const FORWARDS_MAX = 256;
/** A client whose connection is lost for longer than svc reconnects (five minutes) does not come back. */
const KEEPALIVE_MS = 30_000;
const KEEPALIVES_MAX = 11;
/** From the start of this program until the client has signed in. */
const LOGIN_MS = 60_000;
/** The exit status for keys that are missing. */
const WRONG_USAGE = 2;

/**
 * `svc-agent ssh-server`: serves one SSH connection on standard input and output, for the person who has started this
 * program. It listens on no port, so nobody else can connect. Programs have its user, its environment and its directory.
 * @returns the exit status
 */
export async function runSshServer(): Promise<number> {
  const login = setTimeout(() => process.exit(1), LOGIN_MS);
  const input = Bun.stdin.stream().getReader();
  const { line, rest } = await firstLine(input);
  const keys = readKeys(line);
  const clientKey = keys && ssh2.utils.parseKey(keys.client_key);
  if (!keys || !clientKey || clientKey instanceof Error) {
    process.stderr.write("svc-agent: ssh-server is started by svc sessions ssh.\n");
    return WRONG_USAGE;
  }
  const options = {
    hostKeys: [keys.host_key],
    ident: "svc",
    keepaliveInterval: KEEPALIVE_MS,
    keepaliveCountMax: KEEPALIVES_MAX,
  };
  const server = new ssh2.Server(options, (connection) => {
    connection.once("ready", () => clearTimeout(login));
    serveConnection(connection, clientKey);
  });
  const stream = standardStreams(input, rest);
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("close", resolve);
  server.injectSocket(stream);
  await promise;
  await endPrograms();
  return 0;
}

function serveConnection(connection: Connection, clientKey: ParsedKey): void {
  const open = { sessions: 0, forwards: 0 };
  // it ends with the stream; what is wrong with it, the client knows
  connection.on("error", () => {});
  connection.on("authentication", (context) => {
    if (isSignedBy(context, clientKey)) context.accept();
    else context.reject(["publickey"]);
  });
  connection.on("session", (accept, reject) => {
    if (open.sessions >= SESSIONS_MAX) return reject();
    open.sessions++;
    serveSession(accept()).once("close", () => open.sessions--);
  });
  connection.on("tcpip", (accept, reject, to) => {
    if (open.forwards >= FORWARDS_MAX) return reject();
    open.forwards++;
    connectForward(to, accept, reject, () => open.forwards--);
  });
}

/** Whether a client has proved that it holds a key, or asks whether it may. */
function isSignedBy(context: AuthContext, key: ParsedKey): boolean {
  if (context.method !== "publickey" || context.key.algo !== key.type) return false;
  if (!context.key.data.equals(key.getPublicSSH())) return false;
  return context.signature === undefined || key.verify(context.blob ?? "", context.signature) === true;
}

type Input = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

async function firstLine(input: Input): Promise<{ line: string; rest: Buffer }> {
  let read = Buffer.alloc(0);
  while (!read.includes("\n") && read.length <= KEYS_MAX_BYTES) {
    const { value } = await input.read();
    if (!value) break;
    read = Buffer.concat([read, value]);
  }
  const end = read.indexOf("\n");
  return { line: read.subarray(0, Math.max(end, 0)).toString(), rest: read.subarray(end + 1) };
}

function readKeys(line: string): SshKeys | null {
  const value = parseJson(line);
  const keys = { host_key: textField(value, "host_key"), client_key: textField(value, "client_key") };
  return keys.host_key === "" || keys.client_key === "" ? null : keys;
}

/** Standard input and output as one stream. @param first bytes of the input that were read already */
function standardStreams(input: Input, first: Buffer): Duplex {
  const output = Bun.stdout.writer();
  const stream = new Duplex({
    read() {
      input.read().then(
        ({ value }) => stream.push(value ?? null),
        () => stream.destroy(),
      );
    },
    write(bytes: Uint8Array, _, done) {
      output.write(bytes);
      Promise.resolve(output.flush()).then(
        () => done(),
        () => stream.destroy(),
      );
    },
  });
  stream.unshift(first);
  return stream.on("end", () => stream.destroy());
}
