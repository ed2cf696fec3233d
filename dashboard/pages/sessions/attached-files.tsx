import { useRef } from "react";
import { attachedText } from "../../../src/contract/attachment.ts";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { Attaching } from "./use-attachments.ts";

/** The files that will be sent with a prompt. */
export function AttachedFiles({
  files,
  onRemove,
}: {
  files: readonly Attaching[];
  onRemove: (key: string) => void;
}) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-2 px-2 py-1 text-sm">
      {files.map((file) => (
        <li key={file.key} className="flex items-center gap-1 rounded-md border border-line pl-2">
          <Visible>{attachedText(file)}</Visible>
          <Button look="quiet" aria-label={`Remove ${file.name}`} onClick={() => onRemove(file.key)}>
            ×
          </Button>
        </li>
      ))}
    </ul>
  );
}

interface ButtonProps {
  className?: string;
  onChoose: (files: File[]) => Promise<void>;
}

export function AttachButton({ className, onChoose }: ButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ target }) => {
          void onChoose([...(target.files ?? [])]);
          // the same file can be chosen again
          target.value = "";
        }}
      />
      <Button look="quiet" className={className} onClick={() => input.current?.click()}>
        Attach
      </Button>
    </>
  );
}
