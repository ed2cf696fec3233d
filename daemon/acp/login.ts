import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Gives the agent its login in the file that it reads it from, or takes it away. The agent renews the tokens in its file,
 * after which older ones may be void: a login that was written before is not written again.
 * @param login the content; undefined: none
 */
export function prepareLogin(file: string, login: string | undefined): void {
  const note = `${file}.svc`;
  const written = existsSync(note) ? readFileSync(note, "utf8") : null;
  if (!login) {
    // another one is not svc's
    if (written !== null) for (const path of [file, note]) rmSync(path, { force: true });
    return;
  }
  const digest = createHash("sha256").update(login).digest("hex");
  if (written === digest && existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, login, { mode: 0o600 });
  renameSync(draft, file);
  writeFileSync(note, digest);
}
