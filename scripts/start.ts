import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DIST } from "./binaries.ts";
import { build } from "./build.ts";
import { run } from "./run.ts";
import { startServer } from "./server-process.ts";

const HOST = "local-dev";
const API = join(DIST, "svc-api");
const CLI = join(DIST, "svc");

await build();
const server = startServer();
const url = await server.listening;
if (url !== null) process.stderr.write(welcome(url, await signIn(url)));
process.exitCode = await server.exited;

/** Signs the command line in to this server, once. Returns the line that says so. */
async function signIn(url: string): Promise<string> {
  if (!existsSync(CLI)) return "";
  const known = await run([CLI, "whoami", "--host", HOST, "--json"], { env: environment() });
  if (known.code === 0) return "";
  const email = await emailAddress();
  const token = await run([API, "admin", "token", "--email", email, "--name", "npm start"]);
  const login = await run([CLI, "login", "--host", HOST, "--api", `${url}/v1`, "--token", "-"], {
    env: environment(),
    input: token.out,
  });
  if (token.code !== 0 || login.code !== 0) {
    return `The command line could not be signed in: ${(token.err || login.err).trim()}\n`;
  }
  return `The command line is signed in as ${email} (host ${HOST}).\n`;
}

async function emailAddress(): Promise<string> {
  const configured = await run(["git", "config", "user.email"]);
  return configured.out.trim() || `${userInfo().username}@host.local`;
}

/** A token of the environment is another server's, and would count before the one that is stored. */
function environment(): Record<string, string | undefined> {
  return { ...process.env, SVC_TOKEN: undefined };
}

function welcome(url: string, signedIn: string): string {
  return `
svc runs at ${url.replace("127.0.0.1", "localhost")}. Ctrl-C stops it.
${signedIn}
In another terminal:

  export PATH="${DIST}:$PATH"
  cd <your repository>
  svc projects new --repo <its URL> --link
  git switch -c try-svc, commit something, git push -u origin try-svc
  svc cr open --title "Try svc"
  svc cr show 1
  svc cr diff 1
  svc cr merge 1

`;
}
