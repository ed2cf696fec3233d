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
const url = (await server.listening)?.replace("//127.0.0.1:", "//localhost:") ?? null;
if (url !== null) process.stderr.write(welcome(url, await signIn(url)));
process.exitCode = await server.exited;

/** Signs the command line in to this server, once. Returns the line that says so. */
async function signIn(url: string): Promise<string> {
  const api = `${url}/v1`;
  const known = await run([CLI, "whoami", "--host", HOST, "--json"], { env: environment() });
  if (known.code === 0 && JSON.parse(known.out).host_url === api) return "";
  const email = await emailAddress();
  const token = await run([API, "admin", "token", "--email", email, "--name", "npm start"]);
  if (token.code !== 0) return `No token could be made: ${token.err.trim()}\n`;
  // The name may stand for another port, and `login` does not send a token elsewhere than the name says.
  await run([CLI, "hosts", "rm", HOST, "--yes"], { env: environment() });
  const login = await run([CLI, "login", "--host", HOST, "--api", api, "--token", "-"], {
    env: environment(),
    input: token.out,
  });
  if (login.code !== 0) return `The command line could not be signed in: ${login.err.trim()}\n`;
  return `The svc command is signed in as ${email} (host ${HOST}).\n`;
}

async function emailAddress(): Promise<string> {
  const configured = await run(["git", "config", "user.email"]);
  return configured.out.trim() || `${process.env["USER"] || userInfo().username}@host.local`;
}

/** Without a server and a token of the environment, which would count before the ones that are stored. */
function environment(): Record<string, string | undefined> {
  const { SVC_API_URL, SVC_CLI_TOKEN, SVC_EXECUTOR_TOKEN, ...rest } = process.env;
  return rest;
}

function welcome(url: string, signedIn: string): string {
  return `
svc runs at ${url}. Ctrl-C stops it.
${signedIn}
In another terminal, in your own repository's clone:

  export PATH="$PATH:${DIST}"
  svc projects new --repo "$(git remote get-url origin)" --link   # or: svc ship, if it has no host
  git switch -c my-branch   # then commit something
  git push origin HEAD
  svc cr open --title "My change" --head my-branch
  svc cr show 1
  svc cr diff 1
  svc cr merge 1

`;
}
