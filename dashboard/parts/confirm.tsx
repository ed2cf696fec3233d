import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Failure } from "./notice.tsx";

interface Props {
  title: string;
  /** What happens, and what of it cannot be taken back. */
  children: ReactNode;
  /** What the button says: the verb, and what it is done to. */
  verb: string;
  /** What has to be typed first, for what cannot be taken back. */
  typed?: string;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something is done that cannot be taken back. */
export function Confirm({ title, children, verb, typed, busy, error, onConfirm, onClose }: Props) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === undefined || text === typed) onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <div>{children}</div>
        {typed !== undefined && (
          <TextField
            label={`Type ${typed} to confirm`}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <Failure error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy} disabled={typed !== undefined && text !== typed}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
