import { TOKEN_USER } from "../../src/contract/token.ts";
import { configPath, getHost, type Host, listHosts, readConfig } from "../config.ts";
import { gatewayUrl } from "../gateway.ts";
import { nameFromUrl, readUrl } from "../hosts.ts";
import { inSandbox } from "../sandbox.ts";
import type { Handler } from "../spec.ts";
import type { System } from "../system.ts";
import type * as table from "../table/tools.ts";
import { envToken } from "../target.ts";

/** A request of git is a few short lines. */
const REQUEST_MAX_BYTES = 64 * 1024;

/**
 * Git's credential helper protocol (gitcredentials(7)). Prints the token for the gateway of a known host, and nothing for
 * any other address, so that git continues with its next helper.
 */
export const gitCredential: Handler<typeof table.gitCredential> = async ({ system, out }, { args }) => {
  if (args.operation !== "get" && args.operation !== "erase") return;
  const request = readRequest(await system.stdin.bytes(REQUEST_MAX_BYTES, endsAtBlankLine));
  if (request === null) return;
  const credential = (await credentialsOf(system)).find(({ url }) => isGatewayOf(url, request));
  if (credential === undefined) return;
  const { name, token, source } = credential;
  const how = source === "config" ? `sign in with \`svc login --host ${name}\`.` : `it comes from ${source}.`;
  if (args.operation === "erase") await out.note(`The token for ${name} was refused: ${how}`);
  else if (token === undefined) await out.note(`You are not signed in to ${name}: ${how}`);
  else await system.stdout.write(`username=${TOKEN_USER}\npassword=${token}\n`);
};

interface Request {
  protocol: string;
  host: string;
  /** Only with `credential.useHttpPath`. */
  path: string | undefined;
}

const endsAtBlankLine = (soFar: Uint8Array): boolean =>
  BLANK_LINE.test(Buffer.from(soFar).toString("latin1"));
const BLANK_LINE = /(^|\n)\n/;

/** Null for an invalid request, or one with a control character. */
function readRequest(bytes: Uint8Array): Request | null {
  const [head = ""] = new TextDecoder().decode(bytes).split(BLANK_LINE);
  if (/[^\P{Cc}\n]/u.test(head)) return null;
  const values = new Map(
    head.split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
    }),
  );
  const [protocol, host] = [values.get("protocol"), values.get("host")];
  return protocol && host ? { protocol, host, path: values.get("path") } : null;
}

/** A path with `..` could leave the gateway for another server on the same host name. */
function isGatewayOf(hostUrl: string, { protocol, host, path }: Request): boolean {
  const url = new URL(gatewayUrl(hostUrl));
  if (`${protocol}:` !== url.protocol || host !== url.host) return false;
  if (path === undefined) return true;
  const steps = path.split(/[/\\]/);
  return `/${path}`.startsWith(`${url.pathname}/`) && !steps.some((step) => step === "." || step === "..");
}

interface Credential {
  name: string;
  url: string;
  token: string | undefined;
  source: "config" | "SVC_CLI_TOKEN" | "SVC_EXECUTOR_TOKEN";
}

/**
 * Every host with its token, the active one first. A token in the environment belongs to SVC_API_URL, else to the active
 * host. In a sandbox there is no configuration.
 */
async function credentialsOf(system: System): Promise<Credential[]> {
  const address = system.env["SVC_API_URL"];
  const apiUrl = address ? readUrl(address, "SVC_API_URL") : null;
  const given = envToken(system.env);
  const fromEnv: Credential[] = [];
  if (given && apiUrl !== null) {
    fromEnv.push({ name: nameFromUrl(apiUrl), url: apiUrl, token: given.value, source: given.name });
  }
  if (inSandbox(system.env)) return fromEnv;
  const { active, hosts } = await hostsOf(system);
  if (given && apiUrl === null && active) {
    fromEnv.push({ name: active.name, url: active.url, token: given.value, source: given.name });
  }
  const stored = hosts.map(({ name, url, token }): Credential => ({ name, url, token, source: "config" }));
  const rank = ({ name, token }: Credential) => (token === undefined ? 2 : name === active?.name ? 0 : 1);
  return [...fromEnv, ...stored.toSorted((one, other) => rank(one) - rank(other))];
}

async function hostsOf(system: System): Promise<{ active: Host | undefined; hosts: Host[] }> {
  const config = await readConfig(configPath(system));
  return { active: getHost(config, config.active), hosts: listHosts(config) };
}
