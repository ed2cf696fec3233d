import {
  ATTACHMENTS_ACCEPTED,
  type Attachment,
  attachmentType,
  fileName,
} from "../src/contract/attachment.ts";
import { ATTACHMENTS_MAX, ATTACHMENTS_MAX_BYTES } from "../src/contract/limits.ts";
import type { Context } from "./context.ts";
import { usage } from "./failure.ts";
import { readInput } from "./input.ts";
import { oneLine } from "./text.ts";

/** The files that `--attach` names. @throws CliError `usage` for other files than svc accepts, `file` */
export async function readAttachments(context: Context, paths: readonly string[]): Promise<Attachment[]> {
  if (paths.length > ATTACHMENTS_MAX)
    throw usage(`--attach: at most ${ATTACHMENTS_MAX} files can be attached to a prompt.`);
  const files: Attachment[] = [];
  let left = ATTACHMENTS_MAX_BYTES;
  for (const path of paths) {
    const bytes = await readInput(context, path, "--attach", ATTACHMENTS_MAX_BYTES);
    const name = oneLine(fileName(path));
    const type = attachmentType(bytes);
    if (type === null)
      throw usage(`--attach: ${name} cannot be attached.`, `svc accepts ${ATTACHMENTS_ACCEPTED}.`);
    left -= bytes.length;
    if (left < 0)
      throw usage(
        `--attach: the files have more than ${ATTACHMENTS_MAX_BYTES} bytes together.`,
        "Commit larger files to the branch, and name their paths in the prompt.",
      );
    files.push({ name, type, data: Buffer.from(bytes).toString("base64") });
  }
  return files;
}

/** As a request has them. */
export const attachedIn = (files: readonly Attachment[]) => files.map(({ name, data }) => ({ name, data }));
