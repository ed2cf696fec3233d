import { gatewayUrl } from "../../gateway.ts";
import type { Git } from "../../git.ts";
import type { System } from "../../system.ts";
import { shellWord } from "../../text.ts";

/**
 * The credential helpers of this host. The empty value removes the helpers that are configured for every host, which would
 * otherwise store the token.
 */
const helpers = ({ self }: System): [string, string] => [
  "",
  `!${self.map(shellWord).join(" ")} git-credential`,
];

const keys = (hostUrl: string) => {
  const section = `credential.${gatewayUrl(hostUrl)}`;
  return { helper: `${section}.helper`, useHttpPath: `${section}.useHttpPath` };
};

/** The same as options of `git clone`, which configures them in the new repository before it connects. */
export function helperOptions(system: System, hostUrl: string): string[] {
  const { helper, useHttpPath } = keys(hostUrl);
  const settings = [...helpers(system).map((value) => `${helper}=${value}`), `${useHttpPath}=true`];
  return settings.flatMap((setting) => ["--config", setting]);
}

export async function hasHelper(system: System, git: Git, hostUrl: string): Promise<boolean> {
  const { helper, useHttpPath } = keys(hostUrl);
  const [stored, path] = await Promise.all([
    git.run("config", "--local", "-z", "--get-all", helper),
    git.run("config", "--local", "--type=bool", "--get", useHttpPath),
  ]);
  return stored.stdout === `${helpers(system).join("\0")}\0` && path.stdout.trim() === "true";
}

/** Configures it in this repository only. */
export async function setHelper(system: System, git: Git, hostUrl: string): Promise<void> {
  const { helper, useHttpPath } = keys(hostUrl);
  const [none, svc] = helpers(system);
  await git.output("config", "--local", "--replace-all", helper, none);
  await git.output("config", "--local", "--add", helper, svc);
  await git.output("config", "--local", useHttpPath, "true");
}
