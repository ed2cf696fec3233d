// First: signals are caught before anything else runs.
import "./signals.ts";

import { DatabaseUnreachableError } from "../db/connect-failure.ts";
import { SchemaTooNewError } from "../db/migrate.ts";
import { readArguments, USAGE, UsageError, type Wanted } from "./arguments.ts";
import { BackupError } from "./backup/format.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { isDiskFull } from "./contract/disk-full.ts";
import { SvcError } from "./contract/errors.ts";
import { exemptLoopback } from "./contract/proxy.ts";
import { VERSION } from "./contract/version.ts";
import { DataFolderError, DataFolderInUseError, RestoreUnfinishedError } from "./data-folder.ts";
import { runBackup } from "./edge/admin/backup.ts";
import { type AdminCommand, runAdminCommand } from "./edge/admin/command.ts";
import { readCustomRuntimes } from "./edge/admin/custom-runtimes.ts";
import { runRestore } from "./edge/admin/restore.ts";
import { runtimeInstall, runtimeList, runtimeStatus } from "./edge/admin/runtime.ts";
import { sendAdminCommand } from "./edge/admin/socket.ts";
import { AddressInUseError } from "./listen.ts";
import { openModels } from "./models/models.ts";
import { open, WrongMasterKeyError } from "./open.ts";
import { SandboxError } from "./sandboxes/provider.ts";
import { InstallError } from "./sandboxes/runtime/install-error.ts";
import { serve } from "./serve.ts";
import { onFirstSignal } from "./signals.ts";

/** A password on standard input may end with the newline that `echo` adds. */
const FINAL_NEWLINE = /\r?\n$/;

try {
  exemptLoopback(process.env);
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`svc-api: ${explain(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(argv: string[]): Promise<void> {
  const wanted = readArguments(argv);
  if (wanted.verb === "help") return void process.stdout.write(USAGE);
  if (wanted.verb === "version") return void process.stdout.write(`svc-api ${VERSION}\n`);
  const config = readConfig(process.env);
  if (wanted.verb === "config check") return checkConfig(config);
  if (wanted.verb === "serve") return run(config);
  if (wanted.verb === "runtime install")
    return void process.stdout.write(`${await runtimeInstall(config, wanted.name, untilSignal())}\n`);
  if (wanted.verb === "runtime ls") return void process.stdout.write(`${runtimeList(config)}\n`);
  if (wanted.verb === "runtime status") return void process.stdout.write(`${await runtimeStatus(config)}\n`);
  if (wanted.verb === "backup") {
    const stop = untilSignal(new BackupError("The backup was cancelled, and its file was removed."));
    return void process.stderr.write(`${await runBackup(config, wanted, stop)}\n`);
  }
  if (wanted.verb === "restore") {
    const stop = untilSignal(new BackupError("The restore was cancelled, and its files were removed."));
    return void process.stdout.write(`${await runRestore(config, wanted.from, stop)}\n`);
  }
  process.stdout.write(`${await administer(config, await commandOf(wanted))}\n`);
}

/** `svc-api config check`: everything about the configuration that `serve` refuses. */
function checkConfig(config: Config): void {
  openModels(config, process.env, { info() {}, error() {} });
  readCustomRuntimes(config.runtimesFile);
  process.stdout.write("The configuration is valid.\n");
}

/** Is aborted by the first signal, which then does not end the process. */
function untilSignal(reason?: Error): AbortSignal {
  const stop = new AbortController();
  onFirstSignal(() => stop.abort(reason));
  return stop.signal;
}

async function commandOf(
  wanted: Extract<Wanted, { email: string } | { verb: "admin verify-audit" }>,
): Promise<AdminCommand> {
  if (wanted.verb === "admin verify-audit") return { verb: "verify-audit" };
  const { email } = wanted;
  if (wanted.verb === "admin token") return { verb: "token", email, name: wanted.name };
  if (wanted.verb === "admin link") return { verb: "link", email };
  if (wanted.verb === "admin operator") return { verb: "operator", email, revoke: wanted.revoke };
  return { verb: "user", email, password: (await Bun.stdin.text()).replace(FINAL_NEWLINE, "") };
}

/** Runs until a signal; a second one ends the process at once. */
async function run(config: Config): Promise<void> {
  const server = await serve(config);
  if (server.firstUserLink !== null) {
    process.stderr.write(
      `svc-api: this server has no users yet. Create the first one with this link, which is valid for a day: ${server.firstUserLink}\n`,
    );
  }
  onFirstSignal(() => {
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`svc-api: ${explain(error)}\n`);
        process.exit(1);
      },
    );
  });
  process.stderr.write(`svc-api ${VERSION} listens on ${server.url}\n`);
}

/** Runs an operator's command: in the running server if there is one, else directly on the database. */
async function administer(config: Config, command: AdminCommand): Promise<string> {
  const line = await sendAdminCommand(config.dataDir, command);
  if (line !== null) return line;
  const opened = await open(config);
  try {
    const { database, keys } = opened;
    return await runAdminCommand({ db: database.db, keys, site: config.publicUrl }, command);
  } finally {
    await opened.close();
  }
}

/** One line for an error that an operator can fix; the stack trace for a bug in svc. */
function explain(error: unknown): string {
  const known = [
    ConfigError,
    UsageError,
    SvcError,
    DataFolderError,
    DataFolderInUseError,
    DatabaseUnreachableError,
    RestoreUnfinishedError,
    BackupError,
    SchemaTooNewError,
    WrongMasterKeyError,
    SandboxError,
    InstallError,
    AddressInUseError,
  ];
  if (known.some((type) => error instanceof type)) return error instanceof Error ? error.message : "";
  if (isDiskFull(error)) {
    return "The disk of the data folder (SVC_DATA_DIR) or of the database is full. Free some space, then start again.";
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
