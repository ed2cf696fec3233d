import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST_MAX_BYTES, readManifest } from "../../src/contract/manifest/manifest.ts";

/** `[opencode] config_dir` of the clone's manifest; its default where there is none that can be read. */
export async function configFolder(workspace: string): Promise<string> {
  const text = await readFileOf(join(workspace, "svc.toml"));
  return (
    readManifest(text).manifest?.opencode.configDir ?? readManifest("").manifest?.opencode.configDir ?? ""
  );
}

/** The agent may have put anything in a file's place: a link is not followed, a pipe not waited for. */
async function readFileOf(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: FileHandle | null = null;
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const entry = await file.stat();
    if (!entry.isFile() || entry.size > MANIFEST_MAX_BYTES) return "";
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MANIFEST_MAX_BYTES), 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await file?.close();
  }
}
