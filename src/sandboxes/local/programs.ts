import { statSync } from "node:fs";

/** A sandbox has the programs in these folders. The time of a folder changes when a program is installed or replaced. */
const FOLDERS = ["/usr/bin", "/usr/local/bin", "/usr/local/lib", "/usr/lib", "/nix/store"];

/** Changes whenever a program is installed on this machine. */
export function programsOfMachine(): string {
  return FOLDERS.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
}
