import { type Config, readConfig } from "../../src/config.ts";

/** A user that does not exist on this machine. */
export const STRANGER = 54_321;

/** Whether bubblewrap works here, for `needs`. */
export const BUBBLEWRAP = ["bubblewrap (bwrap)", works()] as const;

/** Whether a server can start local sandboxes here, as its binary: one of root never does without bubblewrap. */
export const SANDBOXES = [BUBBLEWRAP[0], BUBBLEWRAP[1] || process.getuid?.() !== 0] as const;

/**
 * The configuration of a server of the tests: its local sandboxes are isolated where this machine can do that, and run
 * as plain processes where it cannot. A server that is started from its binary has no such way as root.
 */
export function testConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const config = readConfig(env);
  return BUBBLEWRAP[1] ? config : { ...config, sandboxIsolation: "none" };
}

function works(): boolean {
  if (Bun.which("bwrap") === null) return false;
  return (
    Bun.spawnSync([
      "bwrap",
      "--dev-bind",
      "/",
      "/",
      "--unshare-user",
      "--unshare-pid",
      "--unshare-net",
      "true",
    ]).exitCode === 0
  );
}
