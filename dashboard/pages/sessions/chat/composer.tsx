import { type KeyboardEvent, useId, useState } from "react";
import type { Attachment } from "../../../../src/contract/attachment.ts";
import { PROMPT_MAX_BYTES } from "../../../../src/contract/limits.ts";
import { Button } from "../../../parts/button.tsx";
import { useDraft } from "../../../parts/draft.ts";
import { Form } from "../../../parts/form.tsx";
import { AttachButton, AttachedFiles } from "../attached-files.tsx";
import { bytesOf } from "../bytes.ts";
import { useAttachments } from "../use-attachments.ts";

/** Maximum height of the field, in rows. */
const ROWS_MAX = 12;

interface Props {
  sessionId: string;
  verb: string;
  hint: string;
  /** If it returns false, the text is put back into the field. */
  onSend: (text: string, files: readonly Attachment[]) => Promise<boolean>;
}

/**
 * The field for a prompt. Enter sends, Shift-Enter inserts a new line; files can be pasted, dropped or chosen. Unsent text
 * is stored.
 */
export function Composer({ sessionId, verb, hint, onSend }: Props) {
  const [draft, setDraft] = useDraft(sessionId);
  const [isSending, setIsSending] = useState(false);
  const attachments = useAttachments();
  const { files, problem } = attachments;
  const id = useId();
  const isTooLong = bytesOf(draft) > PROMPT_MAX_BYTES;
  const send = async () => {
    const text = draft.trim();
    if (text === "" || isTooLong || isSending) return;
    setIsSending(true);
    setDraft("");
    attachments.set([]);
    const isSent = await onSend(text, files);
    setIsSending(false);
    if (isSent) return;
    // keep text that was typed meanwhile
    setDraft((now) => now || text);
    attachments.set(files);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that confirms an input method composition does not send
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <Form
      onSubmit={send}
      {...attachments.drop}
      className="rounded-lg border border-edge bg-surface p-2 focus-within:border-accent"
    >
      <label htmlFor={id} className="sr-only">
        Prompt for the agent
      </label>
      <textarea
        id={id}
        rows={Math.min(ROWS_MAX, draft.split("\n").length)}
        placeholder="Ask the agent to do something"
        aria-describedby={`${id}-hint`}
        aria-invalid={isTooLong || undefined}
        className="block w-full resize-none bg-transparent px-2 py-1 outline-none placeholder:text-muted"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={attachments.onPaste}
      />
      <AttachedFiles files={files} onRemove={attachments.remove} />
      <div className="flex items-center justify-between gap-3 pt-1">
        <p id={`${id}-hint`} className="px-2 text-muted text-xs">
          {isTooLong ? "The limit is 64 KiB." : problem || hint}
        </p>
        <AttachButton className="ml-auto" onChoose={attachments.add} />
        <Button type="submit" look="primary" disabled={draft.trim() === "" || isTooLong} busy={isSending}>
          {verb}
        </Button>
      </div>
    </Form>
  );
}
