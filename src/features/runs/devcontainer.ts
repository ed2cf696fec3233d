import { posix } from "node:path";
import { isReservedName, SECRET_NAME } from "../../contract/environment.ts";
import { SvcError } from "../../contract/errors.ts";
import { arrayOf, field, isObject, textField } from "../../contract/json.ts";
import { SECRET_MAX_BYTES } from "../../contract/limits.ts";

/** Where a repository may have one, in this order. */
export const DEVCONTAINERS = [".devcontainer/devcontainer.json", ".devcontainer.json"] as const;
/** Many times a large one. */
export const DEVCONTAINER_MAX_BYTES = 256 * 1024;
/** Entries of `build.args` and of each table of variables. */
const ENTRIES_MAX = 100;
const COMMAND_MAX_BYTES = 8 * 1024;

/** What svc uses of a devcontainer.json (containers.dev/implementors/json_reference). */
export interface Devcontainer {
  /** Null: it names none that svc can use. */
  image: DevcontainerImage | null;
  /** The user that it names for tools in the container; null: none, or root. */
  user: string | null;
  environment: Record<string, string>;
  /** Its commands for a new container, as one; null: none. */
  setup: string | null;
  /** Its keys that have no effect, such as `features`. */
  ignored: string[];
}

export type DevcontainerImage =
  | { is: "name"; name: string }
  /** Paths in the repository. */
  | {
      is: "dockerfile";
      dockerfile: string;
      context: string;
      args: Record<string, string>;
      target: string | null;
    };

/**
 * Reads a devcontainer.json: JSON with comments and trailing commas.
 * @param path its path in the repository
 * @throws SvcError `validation_failed`
 */
export function readDevcontainer(path: string, text: string): Devcontainer {
  const root = parse(path, text);
  const { environment, ignored } = readEnvironment(root);
  const user = textField(root, "remoteUser") || textField(root, "containerUser");
  const isUser = USER.test(user) && user !== "root";
  return {
    image: readImage(path, root),
    user: isUser ? user : null,
    environment,
    setup: readSetup(path, root),
    ignored: [
      ...Object.keys(root).filter((key) => !USED.has(key) && !WITHOUT_EFFECT.has(key)),
      ...(user !== "" && !isUser ? [`the user ${JSON.stringify(user.slice(0, 64))}`] : []),
      ...ignored,
    ].slice(0, ENTRIES_MAX),
  };
}

const USED: ReadonlySet<string> = new Set([
  ...["image", "build", "dockerFile", "context", "remoteUser", "containerUser", "containerEnv", "remoteEnv"],
  ...["onCreateCommand", "updateContentCommand", "postCreateCommand"],
]);
/** Keys for editors, and descriptions: nobody expects them to change a sandbox. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...["$schema", "name", "customizations", "settings", "extensions", "forwardPorts", "portsAttributes"],
  ...["otherPortsAttributes", "shutdownAction", "waitFor", "userEnvProbe", "updateRemoteUserUID"],
]);
const USER = /^[a-z_][a-z0-9_-]{0,31}$/;
const IMAGE = /^[a-zA-Z0-9][\w.\-/:@]{0,254}$/;
const TARGET = /^[\w.-]{1,128}$/;
const ARGUMENT = /^[A-Za-z_]\w{0,127}$/;

function parse(path: string, text: string): Record<string, unknown> {
  try {
    const root: unknown = Bun.JSONC.parse(text);
    if (isObject(root)) return root;
  } catch {
    // reported below
  }
  throw invalid(
    path,
    "is not a JSON object. Fix it on the default branch, or set dockerfile in [sandbox] of svc.toml",
  );
}

function invalid(path: string, fault: string): SvcError {
  return new SvcError("validation_failed", `${path} ${fault}.`);
}

function readImage(path: string, root: Record<string, unknown>): DevcontainerImage | null {
  const build = field(root, "build");
  const dockerfile = textField(build, "dockerfile") || textField(root, "dockerFile");
  if (dockerfile !== "") {
    const context = textField(build, "context") || textField(root, "context") || ".";
    const target = textField(build, "target");
    const args = Object.entries(isObject(field(build, "args")) ? Object(field(build, "args")) : {});
    return {
      is: "dockerfile",
      dockerfile: inRepository(path, dockerfile),
      context: inRepository(path, context),
      args: Object.fromEntries(
        args.slice(0, ENTRIES_MAX).flatMap(([name, value]) => argumentOf(name, value)),
      ),
      target: TARGET.test(target) ? target : null,
    };
  }
  const name = textField(root, "image");
  if (name === "") return null;
  if (!IMAGE.test(name)) throw invalid(path, `names an invalid image, ${JSON.stringify(name.slice(0, 64))}`);
  return { is: "name", name };
}

function argumentOf(name: string, value: unknown): [string, string][] {
  const isUsable = typeof value === "string" && ARGUMENT.test(name) && !/\$\{|[\0\n]/.test(value);
  return isUsable ? [[name, value]] : [];
}

/** A path that is relative to the folder of the file. */
function inRepository(file: string, path: string): string {
  const found = posix.normalize(posix.join(posix.dirname(file), path)).replace(/(?<=.)\/$/, "");
  if (path.startsWith("/") || found === ".." || found.startsWith("../") || path.includes("\0"))
    throw invalid(file, `names ${JSON.stringify(path.slice(0, 64))}, which is not in the repository`);
  return found;
}

/** Variables with the names that secrets may have; `${containerWorkspaceFolder}` is replaced. */
function readEnvironment(root: unknown): { environment: Record<string, string>; ignored: string[] } {
  const environment: Record<string, string> = {};
  const ignored: string[] = [];
  for (const table of ["containerEnv", "remoteEnv"]) {
    const entries: [string, unknown][] = Object.entries(field(root, table) ?? {});
    for (const [name, value] of entries.slice(0, ENTRIES_MAX)) {
      const text =
        typeof value === "string" ? value.replaceAll("${containerWorkspaceFolder}", "/workspace") : null;
      const isUsable =
        text !== null &&
        SECRET_NAME.test(name) &&
        !isReservedName(name) &&
        !/\$\{|\0/.test(text) &&
        Buffer.byteLength(text) <= SECRET_MAX_BYTES;
      if (isUsable) environment[name] = text;
      else ignored.push(`${table}.${name.slice(0, 64)}`);
    }
  }
  return { environment, ignored };
}

/** The commands for a new container, in the order in which they would run. */
function readSetup(path: string, root: unknown): string | null {
  const commands = ["onCreateCommand", "updateContentCommand", "postCreateCommand"].flatMap((key) =>
    commandsOf(field(root, key)),
  );
  const command =
    commands.length === 1 ? (commands[0] ?? "") : commands.map((each) => `(${each})`).join(" && ");
  if (Buffer.byteLength(command) > COMMAND_MAX_BYTES || command.includes("\0"))
    throw invalid(path, `has commands of more than ${COMMAND_MAX_BYTES} bytes, the limit`);
  return command.trim() === "" ? null : command;
}

/** A shell command, a program with its arguments, or several by names, which may run one after the other. */
function commandsOf(value: unknown): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  const words = arrayOf(value).filter((word) => typeof word === "string");
  if (words.length > 0) return [words.map(shellWord).join(" ")];
  return isObject(value) ? Object.values(value).slice(0, ENTRIES_MAX).flatMap(commandsOfOne) : [];
}

function commandsOfOne(value: unknown): string[] {
  return isObject(value) ? [] : commandsOf(value);
}

function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
