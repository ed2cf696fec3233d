import { userInfo } from "node:os";
import { configPath, getHost, readConfig } from "../../config.ts";
import { updateConfig } from "../../config-write.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import { isLoopbackUrl, SELF_HOST } from "../../hosts.ts";
import { identify } from "../../identity.ts";
import type { Target } from "../../target.ts";
import { runApi } from "./api-program.ts";
import type { Env } from "./env-file.ts";
import { localUrl } from "./look.ts";
import { runProgram } from "./run-program.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/** The name of the host in the CLI's configuration. */
export const HOST = SELF_HOST;

export interface Registered {
  email: string;
  /** A link with which the first user chooses a password; null once someone has one. */
  signInUrl: string | null;
  /** Whether `selfhost` is a host elsewhere, which was left as it is. */
  isTaken: boolean;
}

/**
 * Signs the CLI in to the server, as the host `selfhost`, and makes that the active one.
 * @param given the address of the first user; by default git's, or that of the user of this machine
 * @throws CliError `self_host` if the server refuses
 */
export async function register(
  context: Context,
  stack: Stack,
  state: State,
  env: Env,
  given: string | undefined,
): Promise<Registered> {
  const { system } = context;
  const path = configPath(system);
  const url = `${localUrl(env)}/v1`;
  const stored = getHost(await readConfig(path), HOST);
  const isTaken = stored?.token !== undefined && stored.url !== url && !isLoopbackUrl(stored.url);
  const current = stored?.url === url ? await emailOf(context, stored.token, url) : null;
  const known = given === undefined || given === current ? current : null;
  const email = known ?? given ?? (await ownEmail(context));
  if (known === null && !isTaken) await signIn(context, stack, state, { url, email });
  if (!isTaken) {
    const publicUrl = env.get("SVC_PUBLIC_URL");
    await updateConfig(path, (config) => {
      const { dashboard_url: _, ...entry } = config.hosts[HOST] ?? {};
      const host = { ...entry, url, ...(publicUrl ? { dashboard_url: publicUrl } : {}) };
      return { ...config, active: HOST, hosts: { ...config.hosts, [HOST]: host } };
    });
  }
  return { email, signInUrl: await signInUrl(context, stack, state, { url, email }), isTaken };
}

/** The user that the stored token belongs to; null if it is not valid. */
async function emailOf(context: Context, token: string | undefined, url: string): Promise<string | null> {
  if (token === undefined) return null;
  return identify(context.apiFor(targetOf(url, token))).then(
    ({ identity }) => identity.email,
    () => null,
  );
}

async function signIn(
  context: Context,
  stack: Stack,
  state: State,
  { url, email }: { url: string; email: string },
): Promise<void> {
  const { system } = context;
  const made = await runApi(system, stack, state, [
    ...["admin", "token", "--email", email],
    ...["--name", "svc self-host"],
  ]);
  const token = made.out.trim();
  if (made.code !== 0 || token === "") throw refused("create a token", made.err);
  const { identity, accounts } = await identify(context.apiFor(targetOf(url, token)));
  await updateConfig(configPath(system), (config) => {
    const account = accounts[0]?.account_id;
    const entry = { url, token, user_email: identity.email, ...(account ? { account_id: account } : {}) };
    return { ...config, hosts: { ...config.hosts, [HOST]: entry } };
  });
}

async function signInUrl(
  context: Context,
  stack: Stack,
  state: State,
  { url, email }: { url: string; email: string },
): Promise<string | null> {
  const call = { path: "/auth/session", anonymous: true };
  const session = await context.apiFor(targetOf(url, undefined)).call<{ first_user?: unknown }>(call);
  if (session.first_user !== true) return null;
  const link = await runApi(context.system, stack, state, ["admin", "link", "--email", email]);
  if (link.code !== 0) throw refused("create a link", link.err);
  return link.out.trim();
}

async function ownEmail({ system }: Context): Promise<string> {
  const configured = await gitIn(system, system.cwd)
    .run("config", "user.email")
    .then(
      ({ stdout }) => stdout.trim(),
      () => "",
    );
  if (configured) return configured;
  const { code, out } = await runProgram(system, ["id", "-un"]);
  return `${(code === 0 && out.trim()) || userInfo().username}@host.local`;
}

const refused = (what: string, reason: string): CliError =>
  new CliError("self_host", `The server runs, but svc-api cannot ${what}: ${reason.trim().slice(-500)}`, {
    hint: "svc self-host logs",
  });

function targetOf(url: string, token: string | undefined): Target {
  const tokenSource = token === undefined ? null : ("config" as const);
  const rest = { dashboardUrl: undefined, accountId: undefined };
  return { name: HOST, url, token, tokenSource, source: "--host", ...rest };
}
