import { type FormEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { TextArea } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";

interface Props {
  /** Storage key of the draft. */
  draft: string;
  label: string;
  verb: string;
  /** The text to edit. */
  initial?: string;
  takesFocus?: boolean;
  busy: boolean;
  error: unknown;
  /** Called with the text; call `done` after it was sent, which clears the field. */
  onSend: (body: string, done: () => void) => void;
  onCancel?: () => void;
}

/** A field for a comment (Markdown). Ctrl+Enter sends, Escape closes a field without changes. */
export function Composer({ draft, label, verb, initial, takesFocus, busy, error, onSend, onCancel }: Props) {
  const [kept, keep] = useDraft(draft);
  const text = kept === "" ? (initial ?? "") : kept;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (takesFocus) form.current?.querySelector("textarea")?.focus({ preventScroll: true });
  }, [takesFocus]);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== "" && !busy) onSend(text, () => keep(""));
  };
  const leave = () => {
    keep("");
    onCancel?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === "Escape" && (text === "" || text === initial)) leave();
  };
  return (
    <form ref={form} onSubmit={submit} className="flex flex-col gap-2">
      <TextArea
        label={label}
        hint="Markdown. Ctrl+Enter sends."
        value={text}
        onChange={(event) => keep(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Failure error={error} />
      <div className="flex justify-end gap-2">
        {onCancel && (
          <Button look="quiet" onClick={leave}>
            Cancel
          </Button>
        )}
        <Button type="submit" look="primary" busy={busy} disabled={text.trim() === ""}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
