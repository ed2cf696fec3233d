import { ORPHANED_EXIT_CODE } from "../src/contract/daemon.ts";
import { VERSION } from "../src/contract/version.ts";
import { serveApp } from "./app/serve.ts";
import { runGitCredential } from "./git/git-credential.ts";
import { openRelays } from "./listen.ts";
import { watchServer } from "./orphan.ts";
import { catchSignals } from "./process/signals.ts";
import { saveOnce } from "./saved/save-once.ts";
import { serveDaemon } from "./serve.ts";
import { readSettings, type Settings, SettingsError } from "./settings.ts";

const USAGE = `svc-agent: the daemon of a sandbox.

  svc-agent                  run: clone the repository, start the agent runtime, serve
  svc-agent save             save what is not pushed, of a sandbox whose daemon has ended, and end
  svc-agent git-credential   git's credential helper, for the agent's git
  svc-agent version

Its settings are in its environment: docs/sandbox.md.
`;

/** A usage or a setting that cannot be followed. */
const WRONG_USAGE = 2;

/** `svc-agent`: what its first word says, or the daemon itself. */
export async function runAgent([verb, ...rest]: readonly string[]): Promise<void> {
  if (verb === undefined || verb === "serve") return serve();
  if (verb === "save") return save();
  if (verb === "git-credential") process.exitCode = await runGitCredential(rest[0] ?? "", process.env);
  else if (verb === "version") process.stdout.write(`svc-agent ${VERSION}\n`);
  else {
    process.stderr.write(USAGE);
    process.exitCode = verb === "help" || verb === "--help" ? 0 : WRONG_USAGE;
  }
}

/** Runs until it is asked to end; asked again, it ends at once. */
async function serve(): Promise<void> {
  // before anything is started that would have to be stopped
  const signals = catchSignals(["SIGTERM", "SIGINT"]);
  try {
    const settings = takeSettings();
    await openRelays(settings);
    // whatever happens, whoever is in the sandbox is not left without its daemon
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
      process.stderr.write("svc-agent: the server does not answer: saving the work, and ending\n");
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

/** Reads the settings, and takes out of the environment what nothing else is to have. */
function takeSettings(): Settings {
  const self = process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : null;
  const settings = readSettings(process.env, self);
  // what is inherited by mistake, or read by what is loaded later, does not hold it
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
    return "The port is in use: set SVC_SERVICE_PORT to another, or stop the program that has it.";
  return error instanceof Error ? error.message : String(error);
}
