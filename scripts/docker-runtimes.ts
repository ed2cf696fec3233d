import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** OCI runtimes of the engine of tests: runc, with a change in the container's configuration. */
export const TEST_RUNTIMES = {
  /** As runc. */
  ordinary: "svc-test-ordinary",
  /** Its containers are in the network namespace of the engine, so the rules of their own do not apply to them. */
  pastRules: "svc-test-past-rules",
  /** Its containers have no network. */
  unconnected: "svc-test-unconnected",
  /** Its containers begin as the agent's user, who can read the environment of the first process. */
  sameUser: "svc-test-same-user",
} as const;

const NETWORK = '{"type":"network"[^}]*}';
/** Commands for sed, inside of single quotes of the shell. */
const CHANGES: Readonly<Record<string, string>> = {
  [TEST_RUNTIMES.ordinary]: "",
  [TEST_RUNTIMES.pastRules]: `s#${NETWORK}#{"type":"network","path":"/proc/'$$'/ns/net"}#`,
  [TEST_RUNTIMES.unconnected]: `s#${NETWORK}#{"type":"network"}#`,
  [TEST_RUNTIMES.sameUser]: 's#"user":{"uid":0,"gid":0#"user":{"uid":1000,"gid":1000#',
};

/** Writes the runtimes to a folder. @returns the arguments of dockerd for them */
export function writeRuntimes(folder: string): string[] {
  return Object.entries(CHANGES).map(([name, change]) => {
    const program = join(folder, name);
    const script = `#!/bin/sh
last=
for word in "$@"; do
  [ "$last" != --bundle ] || sed -i '${change}' "$word/config.json"
  last=$word
done
exec runc "$@"
`;
    writeFileSync(program, script, { mode: 0o755 });
    return `--add-runtime=${name}=${program}`;
  });
}
