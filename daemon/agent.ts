import { ORPHANED_EXIT_CODE } from "../src/contract/daemon.ts";
import { exemptLoopback } from "../src/contract/proxy.ts";
import { VERSION } from "../src/contract/version.ts";
import { runAcp } from "./acp/main.ts";
import { serveApp } from "./app/serve.ts";
import { runGitCredential } from "./git/git-credential.ts";
import { openRelays } from "./listen.ts";
import { watchServer } from "./orphan.ts";
import { catchSignals } from "./process/signals.ts";
import { runRecord } from "./record/command.ts";
import { saveOnce } from "./saved/save-once.ts";
import { serveDaemon } from "./serve.ts";
import { readSettings, type Settings, SettingsError } from "./settings.ts";

const USAGE = `svc-agent: the daemon of a sandbox.

  svc-agent                  run: clone the repository, start the agent runtime, serve
  svc-agent save             save unpushed work of a sandbox whose daemon has ended, and exit
  svc-agent git-credential   the credential helper of the agent's git
  svc-agent ssh-server       serve SSH on standard input and output, for svc sessions ssh
  svc-agent version

Settings are environment variables: see docs/sandbox.md.
`;

/** The exit status for an unknown command or an invalid setting. */
const WRONG_USAGE = 2;

/** `svc-agent`: runs the command of its first argument, or the daemon. */
export async function runAgent([verb, ...rest]: readonly string[]): Promise<void> {
  exemptLoopback(process.env);
  if (verb === undefined || verb === "serve") return serve();
  if (verb === "save") return save();
  if (verb === "git-credential") process.exitCode = await runGitCredential(rest[0] ?? "", process.env);
  else if (verb === "acp") await runAcp(rest);
  else if (verb === "record") process.exitCode = await runRecord(rest);
  else if (verb === "ssh-server") await serveSsh();
  else if (verb === "version") process.stdout.write(`svc-agent ${VERSION}\n`);
  else {
    process.stderr.write(USAGE);
    process.exitCode = verb === "help" || verb === "--help" ? 0 : WRONG_USAGE;
  }
}

async function serveSsh(): Promise<never> {
  // loaded on demand: the daemon itself speaks no SSH
  const { runSshServer } = await import("./ssh/serve.ts");
  process.exit(await runSshServer());
}

/** Runs until a signal stops it; a second signal ends it at once. */
async function serve(): Promise<void> {
  // before anything is started that would have to be stopped
  const signals = catchSignals(["SIGTERM", "SIGINT"]);
  try {
    const settings = takeSettings();
    await openRelays(settings);
    // an unexpected error does not end the daemon: the agent still needs it
    process.on("uncaughtException", (error) => process.stderr.write(`svc-agent: ${error.stack}\n`));
    process.on("unhandledRejection", (reason) => process.stderr.write(`svc-agent: ${reason}\n`));
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
    const daemon = settings.app ? serveApp(settings, settings.app) : serveDaemon(settings);
    let isStopping = false;
    const stop = (code: number) => {
      isStopping = true;
      unwatch();
      void daemon.stop().finally(() => process.exit(code));
    };
    const unwatch = watchServer(settings, () => {
      process.stderr.write("svc-agent: the server does not respond: saving unpushed work, then exiting\n");
      stop(ORPHANED_EXIT_CODE);
    });
    signals.forwardTo(() => {
      if (!isStopping) return stop(0);
      daemon.kill();
      process.exit(0);
    });
  } catch (error) {
    fail(error);
  }
}

async function save(): Promise<void> {
  try {
    const settings = takeSettings();
    const close = await openRelays(settings);
    process.exitCode = (await saveOnce(settings)) ? 0 : 1;
    close();
  } catch (error) {
    fail(error);
  }
}

/** Reads the settings, and removes all secrets from the environment. */
function takeSettings(): Settings {
  const self = process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : null;
  const settings = readSettings(process.env, self);
  // child processes and modules that are loaded later must not see it
  delete process.env["SVC_TOKEN"];
  for (const name of Object.keys(settings.secrets.env)) delete process.env[name];
  process.chdir("/");
  return settings;
}

function fail(error: unknown): void {
  process.stderr.write(`svc-agent: ${explain(error)}\n`);
  process.exitCode = error instanceof SettingsError ? WRONG_USAGE : 1;
}

function explain(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return "The port of SVC_SERVICE_PORT is in use. Stop the program that uses it, or set another port.";
  return error instanceof Error ? error.message : String(error);
}
