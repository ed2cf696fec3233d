import { configPath, type Host, readConfig } from "../config.ts";
import { updateConfig } from "../config-write.ts";
import type { Context } from "../context.ts";
import { CliError } from "../failure.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/account.ts";
import { namedHost } from "../target.ts";
import { oneLine } from "../text.ts";

/** A short timeout, because signing out does not depend on the server. */
const REVOKE_SECONDS = 10;

export const logout: Handler<typeof table.logout> = async (context) => {
  const { system, out, globals, sandbox } = context;
  if (sandbox) {
    await out.result(
      { host: null, signed_out: false, revoked: false },
      () => "A sandbox stores no token. There is nothing to do.\n",
    );
    return;
  }
  const path = configPath(system);
  const config = await readConfig(path);
  const host = namedHost(config, globals.host ?? config.active);
  const hadToken = host.token !== undefined;
  const failure = hadToken ? await revoke(context, host) : null;
  if (hadToken) {
    await updateConfig(path, (current) => {
      const { token: _, user_email: __, account_id: ___, ...rest } = current.hosts[host.name] ?? {};
      return { ...current, hosts: { ...current.hosts, [host.name]: rest } };
    });
  }
  const answer = { host: host.name, signed_out: hadToken, revoked: hadToken && failure === null };
  await out.result(answer, () =>
    hadToken ? `Signed out of ${host.name}.\n` : `You were not signed in to ${host.name}.\n`,
  );
  if (failure !== null) {
    await out.warn(
      `The token could not be revoked on ${host.name} (${failure}). It is removed here, but stays valid there until you revoke it in the dashboard or, after signing in again, with \`svc api -X DELETE /accounts/tokens/<id>\`.`,
    );
  }
  if (system.env["SVC_CLI_TOKEN"] || system.env["SVC_EXECUTOR_TOKEN"]) {
    await out.note("The token in the environment is still used.");
  }
};

/** Revokes the token on its server. @returns the reason if that failed; null if the token is no longer valid */
async function revoke(context: Context, host: Host): Promise<string | null> {
  const api = context.apiFor({
    name: host.name,
    url: host.url,
    dashboardUrl: host.dashboard_url,
    accountId: host.account_id,
    token: host.token,
    tokenSource: "config",
    source: "--host",
  });
  try {
    await api.call({ path: "/auth/revoke", method: "POST", seconds: REVOKE_SECONDS });
    return null;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error.code === "unauthorized" ? null : oneLine(error.message);
  }
}
