import { type Config, configPath, getHost, type Host, listHosts, readConfig } from "./config.ts";
import { CliError, usage } from "./failure.ts";
import { checkHostName, nameFromUrl, readUrl, unknownHost } from "./hosts.ts";
import { type FoundLink, findLink } from "./link.ts";
import type { System } from "./system.ts";

/** The host that a command talks to, and the token that belongs to it. */
export interface Target {
  name: string;
  url: string;
  dashboardUrl: string | undefined;
  accountId: string | undefined;
  token: string | undefined;
  tokenSource: "SVC_CLI_TOKEN" | "SVC_EXECUTOR_TOKEN" | "config" | null;
  source: "--host" | "--api" | "link" | "active" | "SVC_API_URL" | "remote";
}

export interface TargetOptions {
  host: string | undefined;
  /** False for commands that write or repair the link. */
  useLink: boolean;
}

interface EnvToken {
  name: "SVC_CLI_TOKEN" | "SVC_EXECUTOR_TOKEN";
  value: string;
}

/** Spec 5.6: SVC_CLI_TOKEN, then SVC_EXECUTOR_TOKEN; never SVC_TOKEN. */
export function envToken(env: System["env"]): EnvToken | undefined {
  for (const name of ["SVC_CLI_TOKEN", "SVC_EXECUTOR_TOKEN"] as const) {
    const value = env[name]?.trim();
    if (!value) continue;
    if (!/^[\x21-\x7e]+$/.test(value)) throw new CliError("not_signed_in", `${name} does not hold a token.`);
    return { name, value };
  }
  return undefined;
}

/**
 * Resolves host and token: `--host`, else the link, else the active host; SVC_API_URL has precedence over the last two.
 * A token is sent only to the host it belongs to: a stored one to its host, one from the environment to SVC_API_URL, to
 * the host named by `--host`, or to the active host, but never to the host of a cloned link file.
 * @throws CliError `config_invalid`, `link_invalid`, `link_mismatch`, `host_unknown`, `usage`.
 */
export async function resolveTarget(system: System, options: TargetOptions): Promise<Target> {
  const token = envToken(system.env);
  const apiUrl = system.env["SVC_API_URL"];
  if (apiUrl) return fromApiUrl(system, options, readUrl(apiUrl, "SVC_API_URL"), token);
  const config = await readConfig(configPath(system));
  if (options.host !== undefined) {
    return target(namedHost(config, options.host), token, "--host");
  }
  const found = options.useLink ? await findLink(system.cwd) : null;
  if (found === null) return target(namedHost(config, config.active), token, "active");
  const host = linkedHost(config, found);
  if (token && host.name !== config.active) {
    throw new CliError(
      "link_mismatch",
      `${found.path} names the host ${host.name}, but the token in ${token.name} belongs to ${config.active}, the active host.`,
      { hint: `Pass --host ${host.name} to send it there, or set SVC_API_URL.` },
    );
  }
  return target(host, token, "link");
}

async function fromApiUrl(system: System, options: TargetOptions, url: string, token: EnvToken | undefined) {
  if (token && options.host === undefined) {
    return target({ name: nameFromUrl(url), url, builtin: false }, token, "SVC_API_URL");
  }
  const config = await readConfig(configPath(system));
  if (options.host !== undefined) {
    const host = namedHost(config, options.host);
    if (host.url !== url) {
      throw usage(
        `--host ${host.name} is ${host.url}, but SVC_API_URL is ${url}.`,
        "Unset SVC_API_URL, or leave --host out.",
      );
    }
    return target(host, token, "--host");
  }
  const known = listHosts(config).filter((host) => host.url === url);
  const host =
    known.find((each) => each.name === config.active) ?? known.find((each) => each.token) ?? known[0];
  return target(host ?? { name: nameFromUrl(url), url, builtin: false }, token, "SVC_API_URL");
}

/** @throws CliError `host_unknown`, or `usage` for an invalid name. */
export function namedHost(config: Config, name: string): Host {
  const host = getHost(config, checkHostName(name));
  if (host) return host;
  throw unknownHost(
    name,
    listHosts(config).map((each) => each.name),
  );
}

/**
 * The host that a link file names, if it has the same address in the configuration. Otherwise a cloned repository could
 * redirect a token.
 */
function linkedHost(config: Config, { link, path }: FoundLink): Host {
  const host = getHost(config, link.host);
  if (!host) {
    throw new CliError(
      "link_mismatch",
      `${path} names a host that is not registered: ${link.host} at ${link.host_url}.`,
      { hint: "If you trust it, register it with `svc hosts add`. Or pass --host and --project." },
    );
  }
  if (host.url === link.host_url) return host;
  throw new CliError(
    "link_mismatch",
    `${path} gives ${link.host_url} as the address of ${link.host}, which is configured as ${host.url}. Nothing was sent.`,
    { hint: "Run `svc projects link` to link this directory again, or pass --host and --project." },
  );
}

/** The target for a stored host that a remote of the repository names. */
export const hostTarget = (host: Host): Target => target(host, undefined, "remote");

function target(host: Host, token: EnvToken | undefined, source: Target["source"]): Target {
  return {
    name: host.name,
    url: host.url,
    dashboardUrl: host.dashboard_url,
    accountId: host.account_id,
    token: token?.value ?? host.token,
    tokenSource: token?.name ?? (host.token ? "config" : null),
    source,
  };
}
