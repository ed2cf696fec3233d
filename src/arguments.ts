import { parseArgs } from "node:util";
import { DEFAULT_RUNTIME, isRuntimeName, RUNTIME_NAMES, type RuntimeName } from "./contract/runtimes.ts";

/** A command of `svc-api`. */
export type Wanted =
  | { verb: "serve" }
  | { verb: "help" }
  | { verb: "version" }
  | { verb: "admin token"; email: string; name: string }
  | { verb: "admin user"; email: string }
  | { verb: "admin link"; email: string }
  | { verb: "admin operator"; email: string; revoke: boolean }
  | { verb: "admin verify-audit" }
  | { verb: "backup"; out: string; withKey: boolean }
  | { verb: "restore"; from: string }
  | { verb: "runtime install"; name: RuntimeName }
  | { verb: "runtime ls" }
  | { verb: "runtime status" }
  | { verb: "config check" };

/** An invalid command line; exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE = `svc-api: the svc server

  svc-api                               run the server (configured by SVC_* variables; see docs/configuration.md)
  svc-api admin token --email <e>       create a token for a user and print it
  svc-api admin link --email <e>        print a link with which a user sets a password
  svc-api admin user --email <e>        set the password of a user, from standard input
  svc-api admin operator --email <e>    let a user manage the server's settings; --revoke ends that
  svc-api admin verify-audit            check the audit log against its chain of hashes
  svc-api backup --out <file|->         back up database, repositories and master key, also of a running server
  svc-api restore --from <file|->       restore a backup into an empty data folder (and an empty database)
  svc-api runtime install [<name>]      install an agent into the data folder: ${RUNTIME_NAMES.join(", ")}
  svc-api runtime ls                    list the agents, and which are installed
  svc-api runtime status                print which agent runtime sandboxes use
  svc-api config check                  check the SVC_* variables without starting the server
  svc-api version                       print the version

The admin commands and backup work on the data folder of this machine, whether or not a server is running.
A backup contains the master key, so that it is as secret as the server; --without-key leaves it out.
If no user has the e-mail address, token, link and user create one; the first user of a server is an operator.

Examples
  svc-api admin token --email you@example.com --name laptop
  svc-api backup --out /backups/svc.tar
  printf %s "$PASSWORD" | svc-api admin user --email you@example.com
`;

/** @throws UsageError */
export function readArguments(argv: string[]): Wanted {
  const { values, positionals } = parse(argv);
  const words = positionals.join(" ");
  if (values.help || words === "help") return { verb: "help" };
  if (values.version || words === "version") return { verb: "version" };
  if (words === "") return { verb: "serve" };
  if (positionals[0] === "runtime" && positionals[1] === "install" && positionals.length <= 3)
    return { verb: "runtime install", name: runtimeName(positionals[2] ?? DEFAULT_RUNTIME) };
  if (
    words === "runtime ls" ||
    words === "runtime status" ||
    words === "config check" ||
    words === "admin verify-audit"
  )
    return { verb: words };
  if (words === "backup") {
    if (!values.out)
      throw new UsageError("svc-api backup requires --out <file>, or --out - for standard output.");
    return { verb: words, out: values.out, withKey: !values["without-key"] };
  }
  if (words === "restore") {
    if (!values.from)
      throw new UsageError("svc-api restore requires --from <file>, or --from - for standard input.");
    return { verb: words, from: values.from };
  }
  const admin = ADMIN.find((verb) => verb === words);
  if (!admin) {
    throw new UsageError(`Unknown command: "${words}". Run svc-api --help for a list of commands.`);
  }
  if (!values.email) throw new UsageError(`svc-api ${words} requires --email <address>.`);
  const { email } = values;
  if (admin === "admin token") return { verb: admin, email, name: values.name ?? "created by svc-api admin" };
  if (admin === "admin operator") return { verb: admin, email, revoke: values.revoke === true };
  return { verb: admin, email };
}

function runtimeName(name: string): RuntimeName {
  if (isRuntimeName(name)) return name;
  throw new UsageError(`svc does not know the agent "${name}". It can install: ${RUNTIME_NAMES.join(", ")}.`);
}

const ADMIN = ["admin token", "admin user", "admin link", "admin operator"] as const;

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        email: { type: "string" },
        name: { type: "string" },
        out: { type: "string" },
        from: { type: "string" },
        "without-key": { type: "boolean" },
        revoke: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "V" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
