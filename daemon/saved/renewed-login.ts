import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { loginTokens } from "../../src/contract/codex-login.ts";
import { loginOf } from "../runtime/describe-agent.ts";
import type { Settings } from "../settings.ts";

/** A login has some kilobytes. */
const MAX_BYTES = 64 * 1024;
/** The file is the agent's, which may have put anything in its place: a pipe would never end. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The tokens that the agent has in the file of its login: those of the secret, or those that it renewed them to. */
export function renewedLogin(settings: Settings): string[] {
  const login = loginOf(settings);
  return login ? loginTokens(readStart(login.file)) : [];
}

/** Empty if there is no such file. */
function readStart(path: string): string {
  let file: number;
  try {
    file = openSync(path, FLAGS);
  } catch {
    return "";
  }
  try {
    if (!fstatSync(file).isFile()) return "";
    const bytes = Buffer.alloc(MAX_BYTES);
    return bytes.subarray(0, readSync(file, bytes)).toString();
  } finally {
    closeSync(file);
  }
}
