import { type ClipboardEvent, type DragEvent, useState } from "react";
import {
  ATTACHMENTS_ACCEPTED,
  type Attachment,
  attachmentType,
  base64Of,
  fileName,
} from "../../../src/contract/attachment.ts";
import { ATTACHMENTS_MAX, ATTACHMENTS_MAX_BYTES } from "../../../src/contract/limits.ts";
import { newId } from "../../api/new-id.ts";

/** A file that will be sent with the next prompt. */
export interface Attaching extends Attachment {
  key: string;
  size: number;
}

/** The files that were pasted, dropped or chosen for the next prompt. */
export function useAttachments() {
  const [files, setFiles] = useState<readonly Attaching[]>([]);
  const [problem, setProblem] = useState("");
  const take = (event: ClipboardEvent | DragEvent, { files: given }: DataTransfer) => {
    if (given.length === 0) return;
    event.preventDefault();
    void add([...given]);
  };
  return {
    files,
    problem,
    add,
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    /** Of the element that files can be dropped on. */
    drop: {
      onDragOver: (event: DragEvent) => event.preventDefault(),
      onDrop: (event: DragEvent) => take(event, event.dataTransfer),
    },
    remove(key: string): void {
      setProblem("");
      setFiles((now) => now.filter((file) => file.key !== key));
    },
    set(now: readonly Attaching[]): void {
      setProblem("");
      setFiles(now);
    },
  };

  async function add(added: readonly File[]): Promise<void> {
    const size = [...files, ...added].reduce((sum, file) => sum + file.size, 0);
    if (files.length + added.length > ATTACHMENTS_MAX)
      return setProblem(`At most ${ATTACHMENTS_MAX} files can be attached.`);
    if (size > ATTACHMENTS_MAX_BYTES)
      return setProblem(`The files are larger than ${ATTACHMENTS_MAX_BYTES / 1024 / 1024} MiB together.`);
    const read = await Promise.all(added.map(readFile));
    const refused = read.indexOf(null);
    if (refused >= 0)
      return setProblem(
        `${fileName(added[refused]?.name ?? "")} cannot be attached. svc accepts ${ATTACHMENTS_ACCEPTED}.`,
      );
    setProblem("");
    setFiles((now) => [...now, ...read.flatMap((file) => file ?? [])].slice(0, ATTACHMENTS_MAX));
  }
}

async function readFile(file: File): Promise<Attaching | null> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = attachmentType(bytes);
  if (type === null) return null;
  return { key: newId(), name: fileName(file.name), type, size: bytes.length, data: base64Of(bytes) };
}
