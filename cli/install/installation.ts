import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, systemCode } from "../failure.ts";
import type { System } from "../system.ts";
import { type InstallRecord, readRecord } from "./record.ts";

type Verb = "update" | "uninstall";

/** Programs that install svc, by the real path of their files, and what they are told to do. */
const MANAGERS: readonly { name: string; path: RegExp; commands: Record<Verb, string> }[] = [
  {
    name: "npm",
    path: /\/node_modules\//,
    commands: { update: "npm install -g svc-cli@latest", uninstall: "npm uninstall -g svc-cli" },
  },
  {
    name: "Homebrew",
    path: /\/(?:Cellar|homebrew|linuxbrew)\//i,
    commands: { update: "brew upgrade svc", uninstall: "brew uninstall svc" },
  },
  {
    name: "Nix",
    path: /^\/nix\/store\//,
    commands: { update: "nix profile upgrade svc", uninstall: "nix profile remove svc" },
  },
  {
    name: "the system's package manager",
    path: /^\/(?:usr\/)?s?bin\//,
    commands: { update: "sudo apt-get install --only-upgrade svc", uninstall: "sudo apt-get remove svc" },
  },
];

/**
 * The record of the installation that this program belongs to. How it was installed follows from the real path of the
 * program, never from the name that it was called by.
 * @throws CliError `update_unsupported`, with the command to use, if install.sh did not install it
 */
export async function requireInstallation(system: System, verb: Verb): Promise<InstallRecord> {
  const [program = "", source] = system.self;
  if (source !== undefined) throw fromSource(dirname(dirname(source)), verb);
  const path = realpathSync(program);
  const record = await readRecord(system);
  if (record !== null && existsSync(record.program) && realpathSync(record.program) === path) return record;
  const manager = MANAGERS.find((known) => known.path.test(path));
  if (manager !== undefined)
    throw unsupported(`This svc was installed with ${manager.name} (${path}).`, manager.commands[verb]);
  if (existsSync(join(dirname(path), "../scripts/build.ts"))) throw fromSource(dirname(dirname(path)), verb);
  throw new CliError("update_unsupported", `This svc was not installed by install.sh (${path}).`, {
    hint:
      verb === "update"
        ? "Install it from your server, and it can update itself: curl -fsSL <server>/install.sh | sh"
        : `Remove that file. \`svc logout\` removes the stored token.`,
  });
}

function fromSource(folder: string, verb: Verb): CliError {
  return verb === "update"
    ? unsupported(
        `This svc runs from the source tree ${folder}.`,
        `cd ${folder} && git pull && npm run build`,
      )
    : new CliError("update_unsupported", `This svc runs from the source tree ${folder}.`, {
        hint: "Nothing was installed. `svc logout` removes the stored token.",
      });
}

function unsupported(what: string, command: string): CliError {
  return new CliError("update_unsupported", what, { hint: `Run: ${command}` });
}

/** To replace or remove a file takes permission for its folder. @throws CliError `update_failed` */
export function requireWritable(program: string): void {
  const folder = dirname(program);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new CliError(
      "update_failed",
      `Cannot write to ${folder} (${systemCode(error) ?? "unknown error"}).`,
      {
        hint: "Run the command as the user who installed svc.",
      },
    );
  }
}
