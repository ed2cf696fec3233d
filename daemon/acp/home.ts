import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { AcpDescription } from "./settings.ts";

/** Gives the agent svc's rules and the skills of svc and the project, where it reads them. Its own files are kept. */
export function prepareAgentHome({ rules, skills }: Pick<AcpDescription, "rules" | "skills">): void {
  if (typeof rules.in === "object") {
    mkdirSync(dirname(rules.in.file), { recursive: true });
    writeFileSync(rules.in.file, rules.text);
  }
  if (skills === null) return;
  mkdirSync(skills.to, { recursive: true });
  for (const from of skills.from) {
    for (const name of existsSync(from) ? readdirSync(from) : [])
      link(join(from, name), join(skills.to, name));
  }
}

/** Replaces a link of an earlier start. */
function link(target: string, path: string): void {
  if (isLink(path)) rmSync(path);
  if (!existsSync(path)) symlinkSync(target, path);
}

function isLink(path: string): boolean {
  try {
    return readlinkSync(path) !== "";
  } catch {
    return false;
  }
}
