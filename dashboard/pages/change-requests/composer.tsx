import { type KeyboardEvent, useEffect, useRef } from "react";
import { suggestionOf } from "../../../src/contract/suggestion.ts";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { TextArea } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import type { Act, useAct } from "./queries.ts";

interface Props {
  /** Storage key of the draft. */
  draft: string;
  label: string;
  verb: string;
  /** The text to edit. */
  initial?: string;
  /** A code block that suggests a change of the lines; null if none can be suggested. */
  suggestion?: string | null;
  /** Something else to do with the text. */
  also?: { verb: string; onSend: OnSend };
  /** Removes the field, after sending or without changes. Such a field takes the focus. */
  onClose?: () => void;
}

/** @param done empties the field, and removes it */
type OnSend = (text: string, done: () => void) => void;

interface RequestProps extends Props {
  act: ReturnType<typeof useAct>;
  /** What `act` does with the text. */
  request: (text: string) => Act;
}

/** A field for a comment (Markdown) that is sent to svc. */
export function Composer({ act, request, ...field }: RequestProps) {
  return (
    <TextComposer
      {...field}
      busy={act.isPending}
      error={act.error}
      onSend={(text, done) => act.mutate(request(text), { onSuccess: done })}
    />
  );
}

interface TextProps extends Props {
  busy?: boolean;
  error?: unknown;
  onSend: OnSend;
}

/** A field for a text (Markdown). Ctrl+Enter sends, Escape closes a field without changes. */
export function TextComposer(props: TextProps) {
  const {
    draft,
    label,
    verb,
    initial,
    suggestion = null,
    also,
    busy = false,
    error,
    onSend,
    onClose,
  } = props;
  const [kept, keep] = useDraft(draft);
  const text = kept === "" ? (initial ?? "") : kept;
  const form = useRef<HTMLFormElement>(null);
  const takesFocus = onClose !== undefined;
  useEffect(() => {
    if (takesFocus) form.current?.querySelector("textarea")?.focus({ preventScroll: true });
  }, [takesFocus]);
  const isBlank = text.trim() === "";
  const submit = () => {
    if (!isBlank && !busy) onSend(text, leave);
  };
  const leave = () => {
    keep("");
    onClose?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === "Escape" && (text === "" || text === initial)) leave();
  };
  return (
    <Form ref={form} onSubmit={submit} className="flex flex-col gap-2">
      <TextArea
        label={label}
        hint="Markdown. Ctrl+Enter sends."
        value={text}
        onChange={(event) => keep(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Failure error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        {suggestion !== null && (
          <Button
            look="quiet"
            className="mr-auto"
            disabled={suggestionOf(text) !== null}
            onClick={() => insert(form.current, suggestion)}
          >
            Suggest a change
          </Button>
        )}
        {onClose && (
          <Button look="quiet" onClick={leave}>
            Cancel
          </Button>
        )}
        {also && (
          <Button busy={busy} disabled={isBlank} onClick={() => also.onSend(text, leave)}>
            {also.verb}
          </Button>
        )}
        <Button type="submit" look="primary" busy={busy} disabled={isBlank}>
          {verb}
        </Button>
      </div>
    </Form>
  );
}

/** Puts a code block on lines of its own where the caret is, with the caret at the end of its text. */
function insert(form: HTMLFormElement | null, block: string): void {
  const field = form?.querySelector("textarea");
  if (!field) return;
  const { selectionStart: start, selectionEnd: end, value } = field;
  const before = start === 0 || value[start - 1] === "\n" ? "" : "\n";
  const after = value[end] === "\n" || end === value.length ? "" : "\n";
  field.setRangeText(`${before}${block}${after}`, start, end);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const caret = start + before.length + block.lastIndexOf("\n");
  field.setSelectionRange(caret, caret);
  field.focus();
}
