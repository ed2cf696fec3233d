import { configPath, readConfig } from "../config.ts";
import { updateConfig } from "../config-write.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/account.ts";
import { namedHost } from "../target.ts";

export const logout: Handler<typeof table.logout> = async ({ system, out, globals, sandbox }) => {
  if (sandbox) {
    await out.result({ host: null, signed_out: false }, () => "A sandbox stores no token; nothing to do.\n");
    return;
  }
  const path = configPath(system);
  const config = await readConfig(path);
  const host = namedHost(config, globals.host ?? config.active);
  const hadToken = host.token !== undefined;
  if (hadToken) {
    await updateConfig(path, (current) => {
      const { token: _, user_email: __, account_id: ___, ...rest } = current.hosts[host.name] ?? {};
      return { ...current, hosts: { ...current.hosts, [host.name]: rest } };
    });
  }
  await out.result({ host: host.name, signed_out: hadToken }, () =>
    hadToken ? `Signed out of ${host.name}.\n` : `You were not signed in to ${host.name}.\n`,
  );
  if (system.env["SVC_CLI_TOKEN"] || system.env["SVC_EXECUTOR_TOKEN"]) {
    await out.note("The token in the environment is still used.");
  }
};
