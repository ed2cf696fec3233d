import { hostname } from "node:os";
import type { Identity } from "../../src/contract/account.ts";
import { SERVICE_KEY_PREFIX, TOKEN_PREFIX } from "../../src/contract/token.ts";
import { configPath, getHost, listHosts, readConfig } from "../config.ts";
import { checkWritable, updateConfig } from "../config-write.ts";
import type { Context } from "../context.ts";
import { CliError, usage } from "../failure.ts";
import { checkHostName, isUnencrypted, nameFromUrl, readUrl } from "../hosts.ts";
import { identify } from "../identity.ts";
import { readSecret } from "../input.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/account.ts";
import { resolveTarget, type Target } from "../target.ts";
import { oneLine } from "../text.ts";
import { deviceLogin } from "./device-login.ts";

export const login: Handler<typeof table.login> = async (context, { flags }) => {
  const { system, out } = context;
  if (context.sandbox) {
    throw new CliError("login_failed", "A sandbox is signed in through its environment; nothing was stored.");
  }
  const path = configPath(system);
  await checkWritable(path);
  const host = await chooseHost(context, flags.api);
  const token = flags.token === undefined ? undefined : await readToken(context, flags.token);
  const minted =
    token ?? (await deviceLogin(context, { ...host, token: undefined, tokenSource: null }, label()));
  const target: Target = { ...host, token: minted, tokenSource: "config" };
  if (isUnencrypted(target.url)) {
    await out.warn(`${target.url} is not encrypted: others on the network can read the token.`);
  }
  const { identity, accounts } = await identify(context.apiFor(target));
  const written = await updateConfig(path, (config) => {
    const entry = { ...config.hosts[target.name], url: target.url, token: minted };
    const account = accounts[0]?.account_id;
    if (account === undefined) delete entry.account_id;
    else entry.account_id = account;
    entry.user_email = identity.email;
    const next = { ...config, hosts: { ...config.hosts, [target.name]: entry } };
    return getHost(config, config.active)?.token === undefined ? { ...next, active: target.name } : next;
  });
  const active = written.active === target.name;
  const { kind, user_id, email, project_id, session_id } = identity;
  const answer = {
    host: target.name,
    host_url: target.url,
    kind,
    user_id,
    email,
    project_id,
    session_id,
    active,
  };
  await out.result(answer, () => `Signed in to ${target.name} as ${oneLine(nameOf(identity))}.\n`);
  if (system.env["SVC_CLI_TOKEN"] || system.env["SVC_EXECUTOR_TOKEN"]) {
    await out.note("The token in the environment still overrides the stored one.");
  }
  if (active) await out.note("Next: svc projects link");
  else await out.note(`The active host is still ${written.active}. Next: svc hosts use ${target.name}`);
};

/** The host to sign in to: by name, by address, or the active one. A new address is registered as a host. */
async function chooseHost(context: Context, api: string | undefined): Promise<Target> {
  const { system, globals } = context;
  if (api === undefined) return resolveTarget(system, { host: globals.host, useLink: false });
  const url = readUrl(api, "--api");
  const config = await readConfig(configPath(system));
  const known = listHosts(config).find((host) => host.url === url);
  const name = globals.host === undefined ? (known?.name ?? nameFromUrl(url)) : checkHostName(globals.host);
  const existing = getHost(config, name);
  if (existing && existing.url !== url && existing.token !== undefined) {
    throw new CliError("host_unknown", `The host ${name} is ${existing.url}, not ${url}.`, {
      hint: `Choose another name with --host, or remove it with \`svc hosts rm ${name}\`.`,
    });
  }
  return {
    name,
    url,
    dashboardUrl: existing?.dashboard_url,
    accountId: undefined,
    token: undefined,
    tokenSource: null,
    source: "--api",
  };
}

async function readToken(context: Context, given: string): Promise<string> {
  const token = await readSecret(context, given, "--token");
  if (given !== "-")
    await context.out.note("The token may be stored in your shell's history; `--token -` avoids that.");
  if (token.startsWith(SERVICE_KEY_PREFIX)) {
    throw usage("This is a sandbox's service key, which is not a token of the API.");
  }
  if (!token.startsWith(TOKEN_PREFIX) || !/^[\x21-\x7e]+$/.test(token)) {
    throw usage(`This is not a token of svc, which begins with ${TOKEN_PREFIX}.`);
  }
  return token;
}

const label = (): string => `svc on ${hostname()}`.slice(0, 100);

const nameOf = (identity: Identity): string =>
  identity.kind === "user"
    ? identity.email
    : `${identity.email}, for the project ${identity.project_name ?? identity.project_id} only`;
