import type { StartedExec } from "../../../src/contract/exec.ts";
import { SSH_SERVER, type SshKeys } from "../../../src/contract/ssh.ts";
import type { ExecClient } from "../../../src/conversation/exec.ts";
import type { Context } from "../../context.ts";
import { attach, exitAs } from "../../exec/attach.ts";
import { CliError, ProgramExit } from "../../failure.ts";
import { runAttached } from "../../run-attached.ts";
import type { Handler } from "../../spec.ts";
import { ownKeys } from "../../ssh/keys.ts";
import { expectHostKey } from "../../ssh/known-hosts.ts";
import { sshOptions } from "../../ssh/options.ts";
import type * as table from "../../table/session-exec.ts";
import { findSession } from "./reference.ts";

export const ssh: Handler<typeof table.ssh> = async (context, { args, flags }) => {
  if (flags.stdio) return await connect(context, args.id ?? "");
  const { system, globals } = context;
  const program = Bun.which("ssh", { PATH: system.env["PATH"] ?? "" });
  if (program === null)
    throw new CliError("file", "ssh was not found. Install OpenSSH's client.", {
      hint: "Without it: svc sessions shell",
    });
  const { id } = await findSession(context, args.id);
  const { id: project } = await context.project();
  const { identityFile } = await ownKeys(system);
  const options = sshOptions(system, { server: globals.host ?? null, project, name: id, identityFile });
  const words = options.flatMap((option) => ["-o", option.replace(" ", "=")]);
  const status = await runAttached(system, [program, ...words, id, ...args.command], { ...system.env });
  if (status !== 0) throw new ProgramExit(status);
};

/**
 * Connects standard input and output to an SSH server in the sandbox, as the ProxyCommand of ssh.
 * @param name the session's id or the first digits of it, and after a dot what ssh_config(5) appends
 */
async function connect(context: Context, name: string): Promise<void> {
  const { system } = context;
  const [reference = ""] = name.split(".", 1);
  const [{ api, path, id }, keys] = await Promise.all([findSession(context, reference), ownKeys(system)]);
  const hostKey = keys.hostKeyOf(id);
  await expectHostKey(system, name, hostKey.publicKey);
  const started = await api.call<StartedExec>({ path: `${path}/exec`, body: { command: SSH_SERVER } });
  const secrets: SshKeys = { host_key: hostKey.privateKey, client_key: keys.client.publicKey };
  const leaving = leaveOnSignal();
  try {
    const exit = await attach(api, started, {
      stdin: after(`${JSON.stringify(secrets)}\n`, system.stdin.stream()),
      stdout: (bytes) => system.stdout.write(bytes),
      stderr: (bytes) => system.stderr.write(bytes),
      note: (text) => void context.out.note(`svc: ${text}`),
      onClient: leaving.follow,
    });
    if (exit.code === NOT_FOUND || exit.code === WRONG_USAGE)
      throw new CliError("unavailable", `The sandbox of session ${id} is of a version of svc without SSH.`, {
        hint: `Restart it: svc sessions restart ${id}`,
      });
    exitAs(exit);
  } finally {
    leaving.stop();
  }
}

/** What a sandbox answers that does not know the command. */
const NOT_FOUND = 127;
const WRONG_USAGE = 2;

async function* after(first: string, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first);
  yield* rest;
}

/** ssh ends its ProxyCommand by a signal. The server in the sandbox is ended with it. */
function leaveOnSignal() {
  let client: ExecClient | null = null;
  const leave = () => client?.end();
  const signals = ["SIGHUP", "SIGTERM", "SIGINT"] as const;
  for (const signal of signals) process.on(signal, leave);
  return {
    follow(followed: ExecClient) {
      client = followed;
    },
    stop() {
      for (const signal of signals) process.off(signal, leave);
    },
  };
}
