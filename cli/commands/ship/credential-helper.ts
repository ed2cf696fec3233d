import { gatewayUrl } from "../../gateway.ts";
import type { Git } from "../../git.ts";
import type { System } from "../../system.ts";
import { shellWord } from "../../text.ts";

/**
 * Whom git asks for a credential for this host: svc, and, by the empty value before it, none of the helpers that are
 * set up for every host, which would be given the token to keep.
 */
const helpers = ({ self }: System): [string, string] => [
  "",
  `!${self.map(shellWord).join(" ")} git-credential`,
];

const keys = (hostUrl: string) => {
  const section = `credential.${gatewayUrl(hostUrl)}`;
  return { helper: `${section}.helper`, useHttpPath: `${section}.useHttpPath` };
};

export async function hasHelper(system: System, git: Git, hostUrl: string): Promise<boolean> {
  const { helper, useHttpPath } = keys(hostUrl);
  const [stored, path] = await Promise.all([
    git.ask("config", "--local", "-z", "--get-all", helper),
    git.ask("config", "--local", "--type=bool", "--get", useHttpPath),
  ]);
  return stored.stdout === `${helpers(system).join("\0")}\0` && path.stdout.trim() === "true";
}

/** Sets it up in this repository alone. */
export async function setHelper(system: System, git: Git, hostUrl: string): Promise<void> {
  const { helper, useHttpPath } = keys(hostUrl);
  const [none, svc] = helpers(system);
  await git.tell("config", "--local", "--replace-all", helper, none);
  await git.tell("config", "--local", "--add", helper, svc);
  await git.tell("config", "--local", useHttpPath, "true");
}
