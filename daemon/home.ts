import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "./settings.ts";
import { shellWord } from "./this-program.ts";

/**
 * Makes the runtime's home. A login shell, as which the runtime starts commands, begins with the system's PATH: the
 * profile there gives it the sandbox's again, unless the image brings a profile of its own.
 */
export async function prepareHome({ home, user, inherited }: Settings): Promise<void> {
  await mkdir(home, { recursive: true });
  const path = inherited["PATH"];
  const profile = join(home, ".profile");
  const written = path ? await write(profile, `PATH=${shellWord(path)}\nexport PATH\n`) : false;
  if (!user) return;
  await chown(home, user.uid, user.gid);
  if (written) await chown(profile, user.uid, user.gid);
}

/** Never over what is there, whatever that is. */
async function write(file: string, text: string): Promise<boolean> {
  return await writeFile(file, text, { flag: "wx" }).then(
    () => true,
    () => false,
  );
}
