import { type Config, configPath, getHost, type Host, listHosts, readConfig } from "../config.ts";
import { updateConfig } from "../config-write.ts";
import type { Context } from "../context.ts";
import { CliError, usage } from "../failure.ts";
import { checkHostName, DEFAULT_HOST, isUnencrypted, readUrl } from "../hosts.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/hosts.ts";
import { type Column, sheet, table as tableOf } from "../table-print.ts";
import { namedHost, resolveTarget } from "../target.ts";

export const ls: Handler<typeof table.ls> = async ({ system, out }) => {
  const config = await readConfig(configPath(system));
  const rows = listHosts(config).map((host) => wire(host, config));
  await out.result(rows, (view) => tableOf(rows, COLUMNS, view));
};

export const use: Handler<typeof table.use> = async (context, { args }) => {
  const { system, out } = context;
  const path = configPath(system);
  const config = await readConfig(path);
  const name = args.name ?? (await pickHost(config));
  namedHost(config, name);
  const written = await updateConfig(path, (current) => ({ ...current, active: name }));
  const host = wire(namedHost(written, name), written);
  await out.result(host, () => `The active host is ${name} (${host.url}).\n`);
  if (!host.signed_in) await out.note("Next: svc login");
};

export const add: Handler<typeof table.add> = async (context, { args, flags }) => {
  const { system, out } = context;
  const name = checkHostName(args.name);
  const url = readUrl(flags.url, "--url");
  const dashboard = flags["dashboard-url"];
  if (dashboard !== undefined && !/^https?:\/\//.test(dashboard)) {
    throw usage("--dashboard-url must begin with https:// or http://.");
  }
  const written = await updateConfig(configPath(system), (config) => {
    const existing = getHost(config, name);
    if (existing && existing.url !== url) {
      throw new CliError("host_unknown", `The host ${name} already exists: ${existing.url}.`, {
        hint: `Choose another name, or remove it with \`svc hosts rm ${name}\`.`,
      });
    }
    const entry = { ...config.hosts[name], url, ...(dashboard ? { dashboard_url: dashboard } : {}) };
    return { ...config, hosts: { ...config.hosts, [name]: entry } };
  });
  const host = wire(namedHost(written, name), written);
  if (isUnencrypted(url)) await out.warn(`${url} is not encrypted: others on the network can read tokens.`);
  if (!flags.login) {
    await out.result(host, () => `Added ${name} (${url}).\n`);
    await out.note(`Next: svc login --host ${name}`);
    return;
  }
  const { login } = await import("./login.ts");
  const globals = { ...context.globals, host: name };
  await login({ ...context, globals }, { args: {}, flags: { token: undefined, api: undefined } });
};

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  const { system, out } = context;
  const path = configPath(system);
  const config = await readConfig(path);
  const host = namedHost(config, args.name);
  if (!Object.hasOwn(config.hosts, host.name)) {
    throw new CliError(
      "host_unknown",
      `${host.name} is a built-in host without stored settings. There is nothing to remove.`,
    );
  }
  const isLast = Object.keys(config.hosts).length === 1;
  if (isLast && !flags.yes) await confirmRemoval(context, host.name);
  const written = await updateConfig(path, (current) => {
    const { [host.name]: _, ...rest } = current.hosts;
    const stays = getHost({ ...current, hosts: rest }, current.active) !== undefined;
    return { ...current, hosts: rest, active: stays ? current.active : DEFAULT_HOST };
  });
  await out.result(
    { name: host.name, removed: true, active: written.active },
    () => `Removed ${host.name}.\n`,
  );
  if (written.active !== config.active) await out.note(`The active host is now ${written.active}.`);
};

export const info: Handler<typeof table.info> = async (context, { args }) => {
  const { system, out } = context;
  const config = await readConfig(configPath(system));
  const target = await resolveTarget(system, { host: args.name ?? context.globals.host, useLink: true });
  const host = wire(
    getHost(config, target.name) ?? { name: target.name, url: target.url, builtin: false },
    config,
  );
  const health = await askHealth(context, target);
  const answer = { ...host, url: target.url, signed_in: target.token !== undefined, ...health };
  await out.result(answer, (view) =>
    sheet(
      [
        ["name", answer.name],
        ["url", answer.url],
        ["dashboard", answer.dashboard_url],
        ["active", yesNo(answer.active)],
        ["signed in", answer.signed_in ? (answer.user_email ?? "yes") : "no"],
        ["server", answer.reachable ? `svc ${answer.version}` : "not reachable"],
      ],
      view,
    ),
  );
};

export const current: Handler<typeof table.current> = async (context) => {
  const { name, url, source } = await context.target();
  await context.out.result({ name, url, source }, () => `${name}\n`);
};

/** A host as `--json` prints it, without its token. */
function wire(host: Host, config: Config) {
  return {
    name: host.name,
    url: host.url,
    dashboard_url: host.dashboard_url ?? null,
    active: host.name === config.active,
    builtin: host.builtin,
    signed_in: host.token !== undefined,
    user_email: host.user_email ?? null,
    account_id: host.account_id ?? null,
  };
}

type Row = ReturnType<typeof wire>;

const COLUMNS: Column<Row>[] = [
  { title: "NAME", value: (host) => host.name },
  { title: "URL", value: (host) => host.url, flexible: true },
  {
    title: "ACTIVE",
    value: (host) => (host.active ? "active" : ""),
    paint: (_, view) => view.paint.green,
  },
  { title: "SIGNED IN", value: (host) => (host.signed_in ? (host.user_email ?? "yes") : "") },
];

const yesNo = (value: boolean): string => (value ? "yes" : "no");

async function pickHost(config: Config): Promise<string> {
  const { choose } = await import("../prompt.ts");
  const choices = listHosts(config).map(({ name, url }) => ({ value: name, label: name, hint: url }));
  return choose("Which host should be active?", choices, config.active);
}

async function confirmRemoval(context: Context, name: string): Promise<void> {
  if (!context.canAsk()) {
    throw usage(`${name} is the last stored host. Pass --yes to remove it.`);
  }
  const { confirm } = await import("../prompt.ts");
  if (!(await confirm(`${name} is the last stored host. Remove it?`))) {
    throw new CliError("cancelled", "Cancelled; nothing was changed.");
  }
}

async function askHealth(context: Context, target: Parameters<Context["apiFor"]>[0]) {
  try {
    const call = { path: "/health", anonymous: true };
    const { version } = await context.apiFor(target).call<{ version?: unknown }>(call);
    return { reachable: true, version: typeof version === "string" ? version : null };
  } catch (error) {
    if (error instanceof CliError) return { reachable: false, version: null };
    throw error;
  }
}
