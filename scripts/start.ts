import { userInfo } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { exemptLoopback } from "../src/contract/proxy.ts";
import { RUNTIME_VERSION } from "../src/contract/runtime.ts";
import type { AdminCommand } from "../src/edge/admin/command.ts";
import { sendAdminCommand } from "../src/edge/admin/socket.ts";
import { ask, canAsk } from "./ask.ts";
import { askOnce } from "./ask-once.ts";
import { DIST } from "./binaries.ts";
import { build } from "./build.ts";
import { findCommand, linkCommand } from "./command-link.ts";
import { chooseIsolation } from "./isolation.ts";
import { laptopSettings } from "./laptop.ts";
import { run } from "./run.ts";
import { startServer } from "./server-process.ts";
import { wallsHere } from "./walls.ts";

const HOST = "local-dev";
const API = join(DIST, "svc-api");
const CLI = join(DIST, "svc");
/** The size of the agent runtime on disk: the program and the packages of its plugins. */
const RUNTIME_MB = 230;

exemptLoopback(process.env);
await build();
const settings = { ...laptopSettings(process.env), ...(await chooseIsolation()) };
const walls = wallsHere({ ...process.env, ...settings }).catch(() => "");
process.stderr.write("svc: starting the server …\n");
const server = startServer(settings);
try {
  const url = (await server.listening)?.replace("//127.0.0.1:", "//localhost:") ?? null;
  if (url !== null) {
    const { email, line } = await signIn(url);
    const signedIn = line + (await passwordLink(url, email));
    const runtime = await agentRuntime();
    process.stderr.write(welcome(url, signedIn, (await walls) + runtime, await pathLine()));
    // a first start, on which everything is there
    if (line !== "" && email !== null && runtime === "") await offerDemo(url);
  }
  process.exitCode = await server.exited;
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`npm start: The server ran, but setting it up failed, so it is stopped: ${reason}\n`);
  server.stop();
  await server.exited;
  process.exitCode = 1;
}

/** Signs the CLI in to this server, once. @returns the user's address and the line to print */
async function signIn(url: string): Promise<{ email: string | null; line: string }> {
  const api = `${url}/v1`;
  const known = await run([CLI, "whoami", "--host", HOST, "--json"], { env: environment() });
  if (known.code === 0) {
    const { host_url, email } = JSON.parse(known.out);
    if (host_url === api) return { email, line: "" };
  }
  const email = await emailAddress();
  const made = await administer({ verb: "token", email, name: "npm start" });
  if ("refusal" in made) return { email: null, line: `Cannot create a token: ${made.refusal}\n` };
  // the stored host may have another port, and `login` sends a token only to the stored URL
  await run([CLI, "hosts", "rm", HOST, "--yes"], { env: environment() });
  const login = await run([CLI, "login", "--host", HOST, "--api", api, "--token", "-"], {
    env: environment(),
    input: `${made.line}\n`,
  });
  if (login.code !== 0) return { email, line: `Cannot sign in the svc command: ${login.err.trim()}\n` };
  return { email, line: `The svc command is signed in as ${email} (host ${HOST}).\n` };
}

/** A one-time link to sign in with a browser, if no user has a password yet. */
async function passwordLink(url: string, email: string | null): Promise<string> {
  if (email === null) return "";
  const session = await fetch(`${url}/v1/auth/session`).then((answer) => answer.json());
  if (!session.first_user) return "";
  const link = await administer({ verb: "link", email });
  if ("refusal" in link) return "";
  return `\nTo sign in in a browser, choose a password for ${email} (the link works once, for a day):\n\n  ${link.line}\n`;
}

/** Runs an operator's command in the server. `svc-api admin` does the same, but loads the whole program for it. */
async function administer(command: AdminCommand): Promise<{ line: string } | { refusal: string }> {
  try {
    const line = await sendAdminCommand(readConfig(process.env).dataDir, command);
    return line === null ? { refusal: "the server's admin socket does not answer." } : { line };
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Installs the agent runtime after a confirmation on the terminal. @returns lines to print if it is not installed
 */
async function agentRuntime(): Promise<string> {
  if ((await run([API, "runtime", "status"])).code === 0) return "";
  const command = `${API} runtime install`;
  const none = `\nSessions need the agent runtime, which is not installed yet:\n\n  ${command}\n`;
  if (!canAsk()) return none;
  const from = process.env["SVC_NPM_REGISTRY"] || "registry.npmjs.org";
  const into = process.env["SVC_DATA_DIR"] || "~/.local/share/svc";
  const question = `Sessions need an agent runtime. opencode ${RUNTIME_VERSION}, ${RUNTIME_MB} MB, from ${from} into ${into}: install?`;
  const isWanted = await askUser("agent-runtime", question);
  if (!isWanted) return none;
  const installing = Bun.spawn([API, "runtime", "install"], { stdio: ["ignore", 2, 2] });
  return (await installing.exited) === 0 ? "" : none;
}

/** Runs `svc demo` after a confirmation on the terminal. */
async function offerDemo(url: string): Promise<void> {
  if (!canAsk()) return;
  const question =
    "Try svc with a sample project? No model and no key is needed, and svc demo --clean removes it.";
  if (!(await ask(question, "yes", server.exited))) return;
  const demo = Bun.spawn([CLI, "demo", "--host", HOST], { env: environment(), stdio: ["inherit", 2, 2] });
  void server.exited.then(() => demo.kill());
  await demo.exited;
  process.stderr.write(`\nsvc runs at ${url}. Ctrl-C stops it.\n`);
}

/** The line that puts `svc` on the PATH of another terminal; empty if it is there, also by a link that the user wants. */
async function pathLine(): Promise<string> {
  const command = findCommand(CLI, process.env);
  if (command.state === "found") return "";
  if (command.state === "linkable" && canAsk()) {
    const question = `Link ${command.link} to this build, so that every terminal has the command svc?`;
    if ((await askUser("command-link", question)) && linkCommand(CLI, command.link)) return "";
  }
  return `  export PATH="$PATH:${DIST}"\n`;
}

/** Asks once: the answer is kept in the data folder, unless the server ended meanwhile. */
async function askUser(name: string, question: string): Promise<boolean> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  return askOnce({
    dataDir: readConfig(process.env).dataDir,
    name,
    ask: () => ask(question, "yes", server.exited),
    keeps: () => !ended && !server.stopping(),
  });
}

async function emailAddress(): Promise<string> {
  const configured = await run(["git", "config", "user.email"]);
  return configured.out.trim() || `${process.env["USER"] || userInfo().username}@host.local`;
}

/** The environment without the variables for server and token, which take precedence over the stored ones. */
function environment(): Record<string, string | undefined> {
  const { SVC_API_URL, SVC_CLI_TOKEN, SVC_EXECUTOR_TOKEN, ...rest } = process.env;
  return rest;
}

function welcome(url: string, signedIn: string, sessions: string, path: string): string {
  return `
svc runs at ${url}. Ctrl-C stops it.
${signedIn}${sessions}
In another terminal:

${path}  svc demo   # a sample project, without a model or a key

In your own repository's clone:

  svc projects new --repo "$(git remote get-url origin)" --link   # or: svc ship, if it has no host
  git switch -c my-branch   # then edit a file, and: git commit -am "My change"
  git push origin HEAD
  svc cr open --title "My change" --head my-branch
  svc cr show 1
  svc cr diff 1
  svc cr merge 1

`;
}
