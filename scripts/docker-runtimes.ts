import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** OCI runtimes of the engine of tests: runc, with another network in the container's configuration. */
export const TEST_RUNTIMES = {
  /** As runc. */
  ordinary: "svc-test-ordinary",
  /** Its containers are in the network namespace of the engine, so the rules of their own do not apply to them. */
  pastRules: "svc-test-past-rules",
  /** Its containers have no network. */
  unconnected: "svc-test-unconnected",
} as const;

/** What replaces the network namespace, for sed and the shell. */
const NETWORKS: Readonly<Record<string, string>> = {
  [TEST_RUNTIMES.ordinary]: "&",
  [TEST_RUNTIMES.pastRules]: `{"type":"network","path":"/proc/'$$'/ns/net"}`,
  [TEST_RUNTIMES.unconnected]: '{"type":"network"}',
};

/** Writes the runtimes to a folder. @returns the arguments of dockerd for them */
export function writeRuntimes(folder: string): string[] {
  return Object.entries(NETWORKS).map(([name, network]) => {
    const program = join(folder, name);
    const script = `#!/bin/sh
last=
for word in "$@"; do
  [ "$last" != --bundle ] || sed -i 's#{"type":"network"[^}]*}#${network}#' "$word/config.json"
  last=$word
done
exec runc "$@"
`;
    writeFileSync(program, script, { mode: 0o755 });
    return `--add-runtime=${name}=${program}`;
  });
}
