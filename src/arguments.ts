import { parseArgs } from "node:util";

/** What `svc-api` was asked to do. */
export type Wanted =
  | { verb: "serve" }
  | { verb: "help" }
  | { verb: "version" }
  | { verb: "admin token"; email: string; name: string }
  | { verb: "admin user"; email: string }
  | { verb: "admin link"; email: string }
  | { verb: "runtime install" }
  | { verb: "runtime status" };

/** Wrong words on the command line; exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE = `svc-api: the svc server

  svc-api                               run the server (configured by SVC_* variables; see docs/configuration.md)
  svc-api admin token --email <e>       make a token for a user, who is made if missing, and print it
  svc-api admin link --email <e>        print a link by which a user, who is made if missing, sets a password
  svc-api admin user --email <e>        set a user's password, read from standard input
  svc-api runtime install               install the agent runtime (opencode) into the data folder
  svc-api runtime status                say which agent runtime sandboxes get
  svc-api version                       print the version

An admin command works on the data folder of this machine, whether or not a server is running on it.

Examples
  svc-api admin token --email you@example.com --name laptop
  printf %s "$PASSWORD" | svc-api admin user --email you@example.com
`;

/** @throws UsageError */
export function readArguments(argv: string[]): Wanted {
  const { values, positionals } = parse(argv);
  const words = positionals.join(" ");
  if (values.help || words === "help") return { verb: "help" };
  if (values.version || words === "version") return { verb: "version" };
  if (words === "") return { verb: "serve" };
  if (words === "runtime install" || words === "runtime status") return { verb: words };
  if (words !== "admin token" && words !== "admin user" && words !== "admin link") {
    throw new UsageError(`svc-api has no command "${words}". See: svc-api --help`);
  }
  if (!values.email) throw new UsageError(`svc-api ${words} needs --email <address>.`);
  if (words !== "admin token") return { verb: words, email: values.email };
  return { verb: words, email: values.email, name: values.name ?? "made by svc-api admin" };
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        email: { type: "string" },
        name: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "V" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
